// As pch.h, with what the tests add.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pch.h"
