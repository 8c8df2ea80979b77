-- A payment of which nobody knows the outcome hours later is a difference, too: whoever looks for what
-- keeps an order waiting looks there.
alter table payment_discrepancies
  drop constraint payment_discrepancies_problem_check,
  add constraint payment_discrepancies_problem_check
      check (problem in ('missing_here', 'missing_there', 'amount_differs', 'outcome_unknown'));
