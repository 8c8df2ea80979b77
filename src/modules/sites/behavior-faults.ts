import { BEHAVIOR_PROPS } from '../../../manifest/behavior-props.ts'
import {
  hasRates,
  listShippingFaults,
  listTaxFaults,
  SHIPPING_PROPS,
  TAX_PROPS,
} from '../../../manifest/policies.ts'
import { type Fault, listFaults, listUnknown } from '../../../manifest/read-props.ts'
import { isObject } from './page-warnings.ts'

/** The faults of a manifest's `behavior`. Those of its policies refuse it; all others are warnings. */

/** More faults than a person reads. */
const FAULTS_MAX = 50

/** The faults of the policies, which decide what shoppers pay, at the paths of the manifest. */
export interface PolicyFaults {
  shipping: readonly Fault[]
  tax: readonly Fault[]
}

export function listPolicyFaults(behavior: unknown): PolicyFaults {
  const { shipping, tax } = isObject(behavior) ? behavior : {}
  return {
    shipping: at('/behavior/shipping', listShippingFaults(shipping)),
    tax: at('/behavior/tax', listTaxFaults(tax)),
  }
}

const at = (base: string, faults: readonly Fault[]): Fault[] =>
  faults.map(({ path, message }) => ({ path: base + path, message }))

/** Members that are null are as if they were missing. */
export const withoutNulls = (value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
    : value

/**
 * Lists what a storefront does not read of `behavior`, at paths below it. The version of the statement and the
 * countries have warnings of their own.
 */
export function listBehaviorFaults(given: unknown): Fault[] {
  const behavior = withoutNulls(given)
  if (!isObject(behavior)) return []
  const { shipping: _shipping, tax: _tax, ...props } = BEHAVIOR_PROPS
  const { shipping, tax, ...others } = behavior
  return [
    ...(isObject(shipping) && !hasRates(shipping) ? [NO_RATES] : []),
    ...unknownOf(SHIPPING_PROPS, shipping, '/shipping'),
    ...unknownOf(TAX_PROPS, tax, '/tax'),
    ...listFaults(props, others, FAULTS_MAX).filter(({ path }) => path !== STATEMENT_VERSION),
  ]
}

const NO_RATES: Fault = { path: '/shipping', message: 'names no rates, so that shipping is free' }
const STATEMENT_VERSION = '/funnelGate/statementVersion'

const unknownOf = (props: Parameters<typeof listUnknown>[0], value: unknown, base: string) =>
  isObject(value) ? at(base, listUnknown(props, value, FAULTS_MAX)) : []
