//! Windows, pools, grids and what samples images.
