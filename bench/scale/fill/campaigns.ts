import type { Step } from './plan.ts'

/** One campaign with the coupon of the store, mailed to as many people as it has orders. */
export const CAMPAIGN_STEPS: readonly Step[] = [
  [
    'campaigns',
    `
    insert into campaigns (tenant_ref, id, name, channel, status, starts_at, subject, body_markdown,
                           coupon_count)
    select tenant_ref, scale.id('campaign', tenant_ref, 1), 'Welcome', 'email', 'active', now(),
           'Welcome', 'Ten percent off.', 1
      from coupons;
    update coupons set campaign_id = scale.id('campaign', tenant_ref, 1);
    insert into campaign_recipients (tenant_ref, id, campaign_id, email, email_folded, customer_ref, state,
                                     reason, attempt_count, next_attempt_at, sent_at, created_at)
    select o.tenant_ref, scale.id('recipient', o.tenant_ref, o.n),
           scale.id('campaign', o.tenant_ref, 1), address, address, o.customer_ref, state,
           case state when 'failed' then 'refused' when 'unknown' then 'interrupted' end, 1,
           case when state = 'queued' then now() + interval '1 day' end,
           case when state = 'sent' then o.at end, o.at
      from (select *, 'reader-' || n || '@example.com' as address,
                   case n % 100 when 1 then 'failed' when 2 then 'unknown' when 3 then 'queued'
                                else 'sent' end as state
              from scale.orders) as o;
    insert into campaign_mailings (tenant_ref, id, state, recipients_count, sent_count, failed_count,
                                   unknown_count, due_at)
    select tenant_ref, campaign_id, 'sending', count(*), count(*) filter (where state = 'sent'),
           count(*) filter (where state = 'failed'), count(*) filter (where state = 'unknown'), null
      from campaign_recipients group by 1, 2`,
  ],
]
