"""What `tritonx check` is made of: `launches` draws them, `judge` runs and compares, `report` holds the findings."""
