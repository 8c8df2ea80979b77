import { DAY_MS } from '../../kernel/time.ts'
import type { DueSubscription } from '../subscriptions/cycle-schema.ts'

/** The next step of the scheduler for a subscription. */
export type Step =
  | 'nothing'
  | 'charge'
  | 'ask_for_card'
  | 'give_up'
  | 'end'
  | 'expire'
  | 'resume'
  | 'notice'
  | 'card_notice'

/** How many days before a charge a customer is told of another price, if the store sends no notices. */
const PRICE_NOTICE_DAYS = 7

/** Plans the next step, by the subscription's own time. */
export function stepOf(subscription: DueSubscription): Step {
  const now = Date.parse(subscription.now)
  const has = (at: string | null): boolean => at !== null && Date.parse(at) <= now
  const { status, charging_cycle, next_charge_at, retry_at } = subscription
  if (charging_cycle !== null) return 'nothing'
  if (status === 'paused') return has(subscription.paused_until) ? 'resume' : 'nothing'
  if (status === 'past_due') {
    if (has(subscription.dunning_next_at)) return chargeOr(subscription)
    return has(subscription.dunning_ends_at) ? 'give_up' : 'nothing'
  }
  if (status !== 'active') return 'nothing'
  if (has(next_charge_at) && (retry_at === null || has(retry_at))) return chargeOr(subscription)
  if (isNoticeDue(subscription, now)) return 'notice'
  return cardNoticeOf(subscription) === null ? 'nothing' : 'card_notice'
}

function chargeOr(subscription: DueSubscription): Step {
  const { cancel_at_period_end, max_cycles, paid_cycles, status } = subscription
  if (cancel_at_period_end && status === 'active') return 'end'
  if (max_cycles !== null && paid_cycles >= max_cycles) return 'expire'
  return hasUsableCard(subscription) ? 'charge' : 'ask_for_card'
}

/** Whether the stored card can be charged. An old expiry does not matter: many banks accept the card that followed. */
export const hasUsableCard = ({ vault_id, gateway, card_blocked }: DueSubscription): boolean =>
  vault_id !== null && gateway !== null && !card_blocked

function isNoticeDue(subscription: DueSubscription, now: number): boolean {
  const { next_charge_at, noticed_for, cancel_at_period_end } = subscription
  const { pre_renewal_notice_days, price_policy } = subscription
  const days = pre_renewal_notice_days ?? (price_policy === 'current' ? PRICE_NOTICE_DAYS : null)
  if (next_charge_at === null || days === null || cancel_at_period_end) return false
  return noticed_for !== next_charge_at && Date.parse(next_charge_at) - days * DAY_MS <= now
}

/** How many days before its expiry a card's customer is told. */
const CARD_NOTICE_DAYS = [7, 30] as const

export interface CardNotice {
  expires_on: string
  days: (typeof CARD_NOTICE_DAYS)[number]
  /** The notice as the row stores it. */
  told: string
}

/** Returns the notice about a card that is due, or null if none is due or it was sent. */
export function cardNoticeOf({ card_ends_at, card_told, now }: DueSubscription): CardNotice | null {
  if (card_ends_at === null) return null
  const expires_on = card_ends_at.slice(0, 10)
  const left = Date.parse(card_ends_at) - Date.parse(now)
  const days = CARD_NOTICE_DAYS.find((each) => left <= each * DAY_MS)
  if (days === undefined) return null
  const told = `${expires_on} ${days}`
  const isTold = card_told === told || card_told === `${expires_on} ${CARD_NOTICE_DAYS[0]}`
  return isTold ? null : { expires_on, days, told }
}
