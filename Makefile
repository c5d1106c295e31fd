# Everything a person runs. `make help` lists it.
