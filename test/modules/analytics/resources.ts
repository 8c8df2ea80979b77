import type { Resources } from '../../harness/resources.ts'

const MEASURES = `gross_cents, discount_cents, refund_cents, tax_cents, refunded_tax_cents, shipping_cents,
  refunded_shipping_cents, dispute_loss_cents, markdown_cents, orders_count, units_count,
  new_customers_count, repeat_customers_count, active_customers_count`

const ZEROS = MEASURES.replaceAll(/\w+/g, '0')

export const resources: Resources = {
  rows: {
    analytics_days: `insert into analytics_days (tenant_ref, generation, calendar, dimension, currency,
                          day, key, ${MEASURES})
                   values ($1, 1, 'booked', 'all', 'USD', '2026-01-01', '', ${ZEROS})`,
    analytics_facts: `insert into analytics_facts (tenant_ref, generation, sequence, order_id, kind, at,
                           day, sale_day, currency, is_test, coupon, affiliate, source, place, customer,
                           cohort, lines, ${MEASURES})
                    values ($1, 1, 1, gen_random_uuid(), 'x', now(), now(), now(), 'USD', false, '', '',
                            'checkout', '', 'new', '2026-01', '[]', ${ZEROS})`,
    analytics_generations: `insert into analytics_generations (tenant_ref, generation, state, time_zone)
                          values ($1, 1, 'serving', 'UTC')`,
    analytics_open_attempts: `insert into analytics_open_attempts (tenant_ref, generation, day, attempt_id)
                            values ($1, 1, '2026-01-01', gen_random_uuid())`,
    analytics_orders: `insert into analytics_orders (tenant_ref, order_id, sale_sequence, sale_at, place,
                            nth, first_at)
                     values ($1, gen_random_uuid(), 1, now(), '', 1, now())`,
    analytics_payment_days: `insert into analytics_payment_days (tenant_ref, generation, day, currency,
                                  outcome, reason, attempts, amount_cents)
                           values ($1, 1, '2026-01-01', 'USD', 'approved', '', 1, 1)`,
    analytics_subscription_days: `insert into analytics_subscription_days (tenant_ref, currency, day,
                                       started_count, ended_count)
                                values ($1, 'USD', '2026-01-01', 1, 0)`,
    analytics_subscription_sums: `insert into analytics_subscription_sums (tenant_ref, currency,
                                       active_count, past_due_count, running_count, mrr_cents)
                                values ($1, 'USD', 1, 0, 1, 100)`,
    analytics_subscriptions: `insert into analytics_subscriptions (tenant_ref, subscription_id, currency,
                                   status, monthly_cents, started_at)
                            values ($1, gen_random_uuid(), 'USD', 'active', 100, now())`,
    subscription_changes: `insert into subscription_changes (tenant_ref, subscription_id)
                         values ($1, gen_random_uuid())`,
    funnel_days: `insert into funnel_days (tenant_ref, day, type, product_id, shard, count)
                values ($1, '2026-01-01', 'view', gen_random_uuid(), 0, 1)`,
  },
}
