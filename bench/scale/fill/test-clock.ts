import type { Step } from './plan.ts'

/** Each store has a clock that stands at real time, after a move that did something for each order. */
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
