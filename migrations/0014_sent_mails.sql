-- A mail as it was sent: a supporter reads what the shopper has read, whatever happened to the order since. It has no
-- link and no code that acts for the shopper, and goes with the address of the mail. Mails of gift cards have no copy:
-- the words of the person who bought the card are erased in one place.
alter table shopper_mails
  add column sent_as jsonb check (length(sent_as::text) <= 1048576);
