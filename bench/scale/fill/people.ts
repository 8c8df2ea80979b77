import type { Database } from '../../../src/db/database.ts'
import { countPeople } from '../../../src/modules/segments/jobs.ts'
import type { Step } from './plan.ts'

/**
 * Half of the customers are readers, every fifth of whom has left again; every fiftieth address is suppressed.
 * A store has a segment for each of a hundred customers, up to its limit.
 */
export const PEOPLE_STEPS: readonly Step[] = [
  [
    'readers',
    `
    insert into consent_texts (tenant_ref, sha256, version, locale, text)
    select tenant_ref, encode(sha256('Yes.'), 'hex'), 'scale', 'en', 'Yes.' from scale.plan;
    insert into newsletter_subscribers (tenant_ref, id, email, email_folded, status, source, requested_at,
                                        confirmed_at, unsubscribed_at, created_at)
    select c.tenant_ref, scale.id('reader', c.tenant_ref, n), c.email, c.email_folded,
           case when n % 10 = 1 then 'unsubscribed' else 'subscribed' end, 'footer', c.first_seen_at,
           c.first_seen_at, case when n % 10 = 1 then c.first_seen_at end, c.first_seen_at
      from (select *, substring(customer_ref from '\\d+$')::int as n from customers) c
     where n % 2 = 1;
    insert into marketing_consents (tenant_ref, id, email, email_folded, state, source, text_sha256, form,
                                    requested_at, created_at)
    select s.tenant_ref, scale.id(d.state, s.tenant_ref, substring(s.email from '\\d+')::int), s.email,
           s.email_folded, d.state, d.source, d.text_sha256, s.source, s.requested_at,
           s.created_at + d.later
      from newsletter_subscribers s
      join (values ('given', 'form', encode(sha256('Yes.'), 'hex'), interval '0'),
                   ('withdrawn', 'one_click', null, interval '1 hour'))
           as d (state, source, text_sha256, later)
        on d.state = 'given' or s.status = 'unsubscribed';
    insert into segment_people (tenant_ref, email_folded, email, consent)
    select tenant_ref, email_folded, email,
           case status when 'subscribed' then 'given' else 'withdrawn' end
      from newsletter_subscribers;
    insert into mail_suppressions (tenant_ref, id, email, email_folded, reason, created_by, suppressed_at,
                                   created_at)
    select tenant_ref, scale.id('suppression', tenant_ref, n), email, email_folded,
           case n % 3 when 0 then 'hard_bounce' when 1 then 'complaint' else 'manual' end,
           'mail_provider', first_seen_at, first_seen_at
      from (select *, substring(customer_ref from '\\d+$')::int as n from customers) c
     where n % 50 = 0;
    insert into global_mail_suppressions (email_hash, domain, reason)
    select sha256(n::text::bytea), 'example.com', 'hard_bounce' from generate_series(1, 10000) n;
    insert into segments (tenant_ref, id, name, match, conditions, created_at)
    select tenant_ref, scale.id('segment', tenant_ref, n), 'Segment ' || n, 'all',
           '[{"field": "orders_count", "op": "gte", "value": 2}]', now() - n * interval '1 hour'
      from scale.plan p cross join lateral generate_series(1, least(p.customers / 100 + 3, 500)) n`,
  ],
]

/** Counts the orders of people by the platform's own loop, so that segments find the right people. */
export async function countOrders(worker: Database): Promise<void> {
  while ((await countPeople(worker)) > 0);
}
