// The sources that belong to a precompiled header: none.
