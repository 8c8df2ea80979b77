-- Cards by their last four characters, in the order of the list. Without the order the planner read all cards of
-- the store from the newest on, and looked for these characters.

drop index gift_cards_last4;
create index gift_cards_last4 on gift_cards (tenant_ref, code_last4, created_at desc, id desc);
