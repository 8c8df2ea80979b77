import fc from 'fast-check'
import { APPROVED, DECLINED, LOST_AFTER_CHARGE, LOST_BEFORE_CHARGE } from '../../checkout/setup.ts'

/** The steps of the model, and random sequences of them. */

export const CARDS = {
  approved: APPROVED,
  declined: DECLINED,
  lost: LOST_BEFORE_CHARGE,
  unanswered: LOST_AFTER_CHARGE,
}
export type Card = keyof typeof CARDS

/** Orders with this e-mail address are held for review. */
export const SUSPECT = 'odd@example.com'

/** A number for the first and for the second variant. */
export type Pair = [number, number]

export type Step =
  | { do: 'place'; quantities: Pair; card: Card; isSuspect: boolean }
  | { do: 'edit'; order: number; quantities: Pair; card: Card }
  | { do: 'cancel'; order: number; restock: boolean }
  | { do: 'hold' | 'release' | 'reject' | 'expire'; order: number }
  | { do: 'refund'; order: number; variant: number }
  | { do: 'hours pass' | 'outcomes are known' | 'close the other location' }
  | { do: 'count'; variant: number; track: boolean; backorder: boolean }
  | { do: 'adjust'; variant: number; isOther: boolean; by: 'delta' | 'set_on_hand'; units: number }
  | { do: 'archive'; variant: number }
  | { do: 'rush'; variant: number; shoppers: number }

/** An index among the orders that have not ended, newest first. */
const order = fc.nat(2)
const variant = fc.nat(1)
const mostly = <V>(often: V, ...others: V[]) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(often) }, fc.constantFrom(...others))
const card = mostly<Card>('approved', 'declined', 'lost', 'unanswered')

const step = <D extends Step['do'], F extends object>(
  weight: number,
  name: D,
  fields: { [K in keyof F]: fc.Arbitrary<F[K]> },
) => ({ weight, arbitrary: fc.record<F>(fields).map((rest) => ({ do: name, ...rest })) })

const STEPS = [
  step(6, 'place', {
    quantities: fc.tuple(fc.nat(3), fc.nat(3)),
    card,
    isSuspect: mostly(false, true),
  }),
  step(16, 'edit', { order, quantities: fc.tuple(fc.nat(5), fc.nat(5)), card }),
  step(10, 'count', { variant, track: fc.boolean(), backorder: mostly(false, true) }),
  step(6, 'adjust', {
    variant,
    isOther: fc.boolean(),
    by: fc.constantFrom('delta' as const, 'set_on_hand' as const),
    units: fc.integer({ min: -4, max: 8 }),
  }),
  step(3, 'outcomes are known', {}),
  step(1, 'hours pass', {}),
  step(2, 'cancel', { order, restock: fc.boolean() }),
  step(1, 'hold', { order }),
  step(2, 'release', { order }),
  step(1, 'reject', { order }),
  step(1, 'expire', { order }),
  step(1, 'refund', { order, variant }),
  step(1, 'close the other location', {}),
  step(1, 'archive', { variant }),
  step(2, 'rush', { variant, shoppers: fc.integer({ min: 1, max: 3 }) }),
]

export const sequences: fc.Arbitrary<Step[]> = fc.array(fc.oneof(...STEPS), {
  minLength: 25,
  maxLength: 40,
  size: 'max',
})
