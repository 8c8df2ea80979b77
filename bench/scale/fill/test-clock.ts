import type { Step } from './plan.ts'

/** A test clock for each store that is not ahead of machine time, after a move that ran due work for each order. */
export const TEST_CLOCK_STEPS: readonly Step[] = [
  [
    'test clocks',
    `
    insert into test_clocks (tenant_ref, id, move, ran_count)
    select tenant_ref, scale.id('clock', tenant_ref, 1), 1, orders from scale.plan;
    insert into test_clock_runs (tenant_ref, move, place, at, kind, subject, outcome)
    select tenant_ref, 1, n, at, 'parcel_delivery', id::text, 'delivered' from scale.orders`,
  ],
]
