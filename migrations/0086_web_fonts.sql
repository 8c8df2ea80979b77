-- A store's own web fonts are assets, too.
alter table assets
  drop constraint assets_extension_check,
  drop constraint assets_content_type_check,
  add constraint assets_extension_check
      check (extension in ('png', 'jpg', 'webp', 'gif', 'avif', 'svg', 'woff2')),
  add constraint assets_content_type_check
      check ((content_type like 'image/%' or content_type = 'font/woff2') and length(content_type) <= 40);
