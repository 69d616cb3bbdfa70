"""Files as people keep them, of any form, as rows that know where they stand."""
