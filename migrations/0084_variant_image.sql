-- Which of its product's images shows a variant. No foreign key: a change of the images writes all of their rows anew,
-- and clears the names of those that are gone itself.
alter table variants add column image_asset_ref text check (length(image_asset_ref) <= 200);
