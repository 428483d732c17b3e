"""A behaviour of a model that passes through a series of snapshots, or where no behaviour fits."""
