import type { Step } from './plan.ts'

const CARD = `'{"brand": "visa", "last4": "1111", "exp_year": 2040, "exp_month": 10}'::jsonb`

/**
 * The charges of cards and gift cards, with the record of the simulated gateway: captured where the order
 * was placed, authorised where it is held, voided where it was cancelled, and declined where it failed.
 */
export const PAYMENT_STEPS: readonly Step[] = [
  [
    'charges',
    `
    create unlogged table scale.cards as
    select o.*, total_cents - gift_cents as cents, scale.id('charge', tenant_ref, n) as charge_id,
           scale.id('transaction', tenant_ref, n) as txn_id,
           scale.id('refund', tenant_ref, n) as refund_id,
           scale.id('refund attempt', tenant_ref, n) as refund_attempt_id,
           encode(sha256(customer_ref::bytea), 'hex') as fingerprint,
           upper(left(md5(n::text), 6)) as auth_code
      from scale.orders o;
    insert into charges (tenant_ref, charge_id, order_id, tender, status, amount_cents, captured_cents,
                         refunded_cents, currency, gateway, txn_id, card_brand, card_last4,
                         card_fingerprint, authorized_until, created_at)
    select tenant_ref, charge_id, id, 'card',
           case when placed then 'captured' when story = 'held' then 'authorized'
                when story = 'cancelled' then 'voided' else 'failed' end,
           cents, case when placed then cents else 0 end, refunded_cents, 'USD', 'simulated',
           case when story <> 'failed' then txn_id::text end, 'visa', '1111', fingerprint,
           case when story = 'held' then now() + interval '7 days' end, at
      from scale.cards;
    insert into charges (tenant_ref, charge_id, order_id, tender, status, amount_cents, captured_cents,
                         currency, gift_card_id, gift_card_last4, created_at)
    select tenant_ref, scale.id('gift charge', tenant_ref, n), id, 'gift_card', 'captured', gift_cents,
           gift_cents, 'USD', scale.id('gift card', tenant_ref, n / 100),
           lpad((n / 100 % 10000)::text, 4, '0'), at
      from scale.orders where gift_cents > 0`,
  ],
  [
    'payment attempts',
    `
    insert into payment_attempts (tenant_ref, id, order_id, kind, gateway, amount_cents, currency,
                                  charge_id, state, txn_id, auth_code, cvv, code, reason, card,
                                  created_at, closed_at, next_check_at)
    select tenant_ref, charge_id, id, 'checkout', 'simulated', cents, 'USD', charge_id,
           case when story = 'failed' then 'declined' else 'approved' end, txn_id::text,
           case when story <> 'failed' then auth_code end, 'M',
           case when story = 'failed' then '200' else '100' end,
           case when story = 'failed' then 'card_declined' end, ${CARD}, at, at, null::timestamptz
      from scale.cards
     union all
    select tenant_ref, refund_attempt_id, id, 'refund', 'simulated', refunded_cents, 'USD', charge_id,
           'approved', txn_id::text, auth_code, 'M', '100', null, ${CARD}, at, at, null::timestamptz
      from scale.cards where refunded_cents > 0`,
  ],
  [
    'refunds',
    `
    insert into refunds (tenant_ref, refund_id, order_id, status, amount_cents, product_cents, currency,
                         reason, actor, created_at, settled_at)
    select tenant_ref, refund_id, id, 'succeeded', refunded_cents, refunded_cents, 'USD', 'Late',
           'merchant_key:scale', at, at
      from scale.cards where refunded_cents > 0;
    insert into refund_tenders (tenant_ref, refund_id, charge_id, tender, amount_cents, status,
                                attempt_id)
    select tenant_ref, refund_id, charge_id, 'card', refunded_cents, 'succeeded', refund_attempt_id
      from scale.cards where refunded_cents > 0`,
  ],
  [
    'the record of the simulated gateway',
    `
    insert into sim_charges (tenant_ref, txn_id, ref, amount_cents, currency, outcome, code, auth_code,
                             cvv, card, fingerprint, captured_cents, refunded_cents, captured_at,
                             voided_at, created_at)
    select tenant_ref, txn_id, charge_id, cents, 'USD',
           case when story = 'failed' then 'declined' else 'approved' end,
           case when story = 'failed' then '200' else '100' end,
           case when story <> 'failed' then auth_code end, 'M', ${CARD}, fingerprint,
           case when placed then cents else 0 end, refunded_cents, case when placed then at end,
           case when story = 'cancelled' then at end, at
      from scale.cards;
    insert into sim_journal (tenant_ref, id, txn_id, ref, kind, amount_cents, outcome, created_at)
    select c.tenant_ref, scale.id('gateway ' || j.kind, c.tenant_ref, c.n), c.txn_id, j.ref, j.kind,
           j.cents, case when c.story = 'failed' then 'declined' else 'approved' end, c.at
      from scale.cards c
     cross join lateral (values ('authorize', c.charge_id, c.cents, true),
                                ('capture', c.charge_id, c.cents, c.placed),
                                ('void', c.charge_id, c.cents, c.story = 'cancelled'),
                                ('refund', c.refund_attempt_id, c.refunded_cents,
                                 c.refunded_cents > 0)) as j (kind, ref, cents, happened)
     where j.happened`,
  ],
  [
    'differences from the gateway',
    `
    insert into payment_discrepancies (tenant_ref, id, day, gateway, problem, ref, order_id, our_cents,
                                       gateway_cents, created_at, seen_at, resolved_at)
    select tenant_ref, scale.id('discrepancy', tenant_ref, n), at::date, 'simulated', 'amount_differs',
           charge_id::text, id, cents, cents + 1, at, at, case when n % 200 = 0 then at end
      from scale.cards where n % 100 = 0`,
  ],
]
