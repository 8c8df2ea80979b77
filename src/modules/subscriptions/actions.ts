import { ApiError } from '../../errors.ts'
import type { Action, SubscriptionRow, SubscriptionStatus } from './schema.ts'

/** What can be done with a subscription, by its status. */
const ALLOWED: Record<SubscriptionStatus, readonly Action[]> = {
  active: ['pause', 'skip', 'unskip', 'change', 'change_card', 'cancel'],
  // A pause that is named again has another end.
  paused: ['pause', 'resume', 'change', 'change_card', 'cancel'],
  // To skip the charge that was declined is to go on without it.
  past_due: ['skip', 'change', 'change_card', 'cancel'],
  cancelled: [],
  unpaid_cancelled: [],
  expired: [],
}

type State = Pick<SubscriptionRow, 'status' | 'cancel_at_period_end' | 'charging'>

/** Whatever the status is: nothing while a charge is under way. */
export const allowedNow = (row: State): Action[] => (row.charging ? [] : allowedBy(row))

function allowedBy({ status, cancel_at_period_end }: State): Action[] {
  const isEnding = status === 'active' && cancel_at_period_end
  return [...ALLOWED[status], ...(isEnding ? (['resume'] as const) : [])]
}

export const isRunning = ({ status }: Pick<State, 'status'>): boolean => ALLOWED[status].length > 0

export const invalidTransition = (row: State, message?: string) =>
  new ApiError('invalid_transition', {
    ...(message !== undefined && { message }),
    body: { current_status: row.status, allowed: allowedBy(row) },
  })

/** Refuses what the status does not allow, and every change within a charge. */
export function requireAllowed(row: State, action: Action): void {
  if (!allowedBy(row).includes(action)) throw invalidTransition(row)
  if (row.charging) throw chargeInProgress()
}

export const chargeInProgress = () =>
  new ApiError('charge_in_progress', { headers: { 'retry-after': '10' } })
