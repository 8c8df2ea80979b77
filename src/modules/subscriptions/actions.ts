import { ApiError } from '../../errors.ts'
import type { Action, SubscriptionRow, SubscriptionStatus } from './schema.ts'

/** The actions that each status allows. */
const ALLOWED: Record<SubscriptionStatus, readonly Action[]> = {
  active: ['pause', 'skip', 'unskip', 'change', 'change_card', 'cancel'],
  // Pausing again changes the end of the pause.
  paused: ['pause', 'resume', 'change', 'change_card', 'cancel'],
  // Skipping the charge that was declined lets the subscription go on without it.
  past_due: ['skip', 'change', 'change_card', 'cancel'],
  cancelled: [],
  unpaid_cancelled: [],
  expired: [],
}

type State = Pick<SubscriptionRow, 'status' | 'cancel_at_period_end' | 'charging'>

/** Lists the actions that are allowed now: none while a charge is under way, whatever the status is. */
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

/** Refuses an action that the status does not allow, and every action while a charge is under way. */
export function requireAllowed(row: State, action: Action): void {
  if (!allowedBy(row).includes(action)) throw invalidTransition(row)
  if (row.charging) throw chargeInProgress()
}

export const chargeInProgress = () =>
  new ApiError('charge_in_progress', { headers: { 'retry-after': '10' } })
