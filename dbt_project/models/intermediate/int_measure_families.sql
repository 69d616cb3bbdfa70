{{ measure_families() }}
