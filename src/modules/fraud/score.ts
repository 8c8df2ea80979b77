import type { Decision, Signal } from './schema.ts'

/** What is known of an attempt to pay. A missing fact adds no points. */
export interface Observed {
  /** The gateway's codes for address and card security code. */
  avs?: string | null | undefined
  cvv?: string | null | undefined
  /** The fullest velocity bucket, as a share of its limit. */
  velocity?: number | undefined
  /** The verdict of the bans. One that blocks ends the attempt before a payment. */
  ban?: 'allow' | 'review' | 'block' | undefined
  /** The gateway says that the card is lost, stolen or to be picked up. */
  fraud_signal?: boolean | undefined
}

export interface Rules {
  avs: { none: number; partial: number }
  cvv: number
  velocity: { from: number; points: number }
  ban: { review: number; block: number }
  fraud_signal: number
  /** The scores from which an attempt is reviewed, or rejected. */
  review_from: number
  reject_from: number
}

/**
 * A wrong address and a wrong security code together are accepted (55 points): shoppers mistype. With
 * the gateway's warning the attempt is reviewed; with nearly all signals it is rejected.
 */
export const DEFAULT_RULES: Rules = {
  avs: { none: 25, partial: 10 },
  cvv: 30,
  velocity: { from: 0.5, points: 10 },
  ban: { review: 70, block: 130 },
  fraud_signal: 50,
  review_from: 70,
  reject_from: 130,
}

/** The gateway's codes: neither street nor postal code match, or only one of them does. */
const AVS_NONE: ReadonlySet<string> = new Set(['N', 'C', '4', '8'])
const AVS_PARTIAL: ReadonlySet<string> = new Set([...'ABWZPL1357'])

export interface FraudScore {
  score: number
  signals: Signal[]
  decision: Decision
}

/** Adds up the signals of an attempt. One more signal never lowers the score. */
export function scoreRisk(observed: Observed, rules: Rules = DEFAULT_RULES): FraudScore {
  const signals = [
    banSignal(observed, rules),
    velocitySignal(observed, rules),
    avsSignal(observed, rules),
    observed.cvv === 'N' ? signal('cvv', rules.cvv, 'N') : null,
    observed.fraud_signal ? signal('fraud_signal', rules.fraud_signal) : null,
  ].filter((each) => each !== null)
  const total = signals.reduce((sum, { points }) => sum + points, 0)
  return { score: total, signals, decision: decide(total, rules) }
}

function decide(total: number, { review_from, reject_from }: Rules): Decision {
  if (total >= reject_from) return 'rejected'
  return total >= review_from ? 'review' : 'accepted'
}

const signal = (name: Signal['signal'], points: number, detail: string | null = null): Signal => ({
  signal: name,
  points,
  detail,
})

function banSignal({ ban }: Observed, rules: Rules): Signal | null {
  return ban === 'review' || ban === 'block' ? signal('ban', rules.ban[ban], ban) : null
}

function velocitySignal({ velocity = 0 }: Observed, { velocity: rule }: Rules): Signal | null {
  return velocity >= rule.from ? signal('velocity', rule.points) : null
}

function avsSignal({ avs }: Observed, rules: Rules): Signal | null {
  if (avs == null) return null
  if (AVS_NONE.has(avs)) return signal('avs', rules.avs.none, avs)
  return AVS_PARTIAL.has(avs) ? signal('avs', rules.avs.partial, avs) : null
}
