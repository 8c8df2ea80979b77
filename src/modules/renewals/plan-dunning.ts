import { HOUR_SECONDS } from '../../kernel/time.ts'
import type { DueSubscription } from '../subscriptions/cycle-schema.ts'
import { type DeclineClass, WAIT_DAYS } from './decline-rules.ts'

/** The plan after a failed charge. Days count from the failure. */
export type DunningPlan =
  | { kind: 'resend'; seconds: number }
  | { kind: 'retry'; attempt: number; days: number; payday: boolean; isLast: boolean }
  | { kind: 'await_card'; attempt: number; days: number; isBlocked: boolean }
  | { kind: 'exhausted' }
  | { kind: 'stop'; isAll: boolean }

/** How soon a charge that no bank has seen is sent again, and how often before it counts as declined. */
const RESEND_SECONDS = HOUR_SECONDS
const RESENDS_MAX = 5

type Standing = Pick<DueSubscription, 'dunning_attempt' | 'dunning_delays_days' | 'attempt_count'>

/**
 * Plans what happens after a failed charge: the networks' rules come first, the store's ladder moves between them.
 * If a card must not be charged again, the plan waits for another one as long as the ladder would have continued.
 * `adviceDays`: how many days the network asks to wait at least.
 */
export function planDunning(
  declined: DeclineClass,
  standing: Standing,
  adviceDays = 0,
): DunningPlan {
  const { dunning_attempt, dunning_delays_days: delays, attempt_count } = standing
  if (declined === 'unsent' && attempt_count - dunning_attempt <= RESENDS_MAX) {
    return { kind: 'resend', seconds: RESEND_SECONDS }
  }
  if (declined === 'stop' || declined === 'stop_all') {
    return { kind: 'stop', isAll: declined === 'stop_all' }
  }
  const attempt = dunning_attempt + 1
  const left = delays.slice(attempt - 1)
  const [next] = left
  if (next === undefined) return { kind: 'exhausted' }
  if (declined === 'hard' || declined === 'update') {
    const days = left.reduce((sum, each) => sum + each, 0)
    return { kind: 'await_card', attempt, days, isBlocked: declined === 'hard' }
  }
  return {
    kind: 'retry',
    attempt,
    days: Math.max(next, adviceDays, declined === 'wait' ? WAIT_DAYS : 0),
    payday: declined === 'funds',
    isLast: left.length === 1,
  }
}
