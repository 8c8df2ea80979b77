import type { Decision, Signal } from './schema.ts'

/** The facts about an attempt to pay. A missing fact adds no points. */
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
  /** The rules of the store. Left out: the defaults. */
  rules?: Rules | undefined
}

type Act = 'score' | 'hold' | 'refuse'

export interface Rules {
  avs: { none: number; partial: number }
  cvv: number
  velocity: { from: number; points: number }
  ban: { review: number; block: number }
  fraud_signal: number
  /** The effect of a signal beside its points; a ban that blocks ends the attempt in any case. */
  actions?: Partial<Record<'avs_none' | 'avs_partial' | 'cvv' | 'velocity' | 'fraud_signal', Act>>
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
export function scoreRisk(
  observed: Observed,
  rules: Rules = observed.rules ?? DEFAULT_RULES,
): FraudScore {
  const signals = [
    banSignal(observed, rules),
    velocitySignal(observed, rules),
    avsSignal(observed, rules),
    observed.cvv === 'N' ? signal('cvv', rules.cvv, 'N') : null,
    observed.fraud_signal ? signal('fraud_signal', rules.fraud_signal) : null,
  ].filter((each) => each !== null)
  const total = signals.reduce((sum, { points }) => sum + points, 0)
  return { score: total, signals, decision: decide(total, actsOf(signals, rules), rules) }
}

function decide(
  total: number,
  acts: readonly Act[],
  { review_from, reject_from }: Rules,
): Decision {
  if (total >= reject_from || acts.includes('refuse')) return 'rejected'
  return total >= review_from || acts.includes('hold') ? 'review' : 'accepted'
}

/** The effects of an attempt's signals beside their points, by the rules of the store. */
function actsOf(signals: readonly Signal[], { actions = {} }: Rules): Act[] {
  return signals.map(({ signal: name, detail }) => {
    if (name === 'ban') return 'score'
    if (name !== 'avs') return actions[name] ?? 'score'
    return actions[AVS_NONE.has(detail ?? '') ? 'avs_none' : 'avs_partial'] ?? 'score'
  })
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
