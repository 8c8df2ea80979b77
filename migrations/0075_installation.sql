-- What SECRET_KEY the database was set up with: a value that is derived from it, and does not tell it. `migrate`
-- writes the only row, and the doctor compares it, so that a changed key is called that.
create table installation (
  only_row  boolean primary key default true check (only_row),
  key_check text    not null check (length(key_check) = 64)
);
