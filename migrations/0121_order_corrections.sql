-- A payment request may be for the correction of a placed order: it is applied once the shopper has paid. An order that
-- is asked a second time has one request, the last.

alter table payment_requests
  add column purpose text not null default 'order' check (purpose in ('order', 'correction')),
  -- What is changed once it is paid, with the corrected address. It ends with the request.
  add column correction jsonb,
  add constraint payment_requests_correction
      check (correction is null or (purpose = 'correction' and status = 'open'));
