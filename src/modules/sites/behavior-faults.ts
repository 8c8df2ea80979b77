import { BEHAVIOR_PROPS } from '../../../manifest/behavior-props.ts'
import {
  DELIVERY_PROPS,
  isFree,
  listShippingFaults,
  listTaxFaults,
  SHIPPING_PROPS,
  TAX_PROPS,
} from '../../../manifest/policies.ts'
import { type Fault, listFaults, listUnknown, pointerPart } from '../../../manifest/read-props.ts'
import { findNear } from '../../kernel/near-names.ts'
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

/** How many members are compared with the known names: no person writes more of them. */
const COMPARED_MAX = 1_000

const POLICIES = { shipping: SHIPPING_PROPS, tax: TAX_PROPS }

/**
 * Lists the policies that stand under names that are almost theirs (`behaviour.shipping`, `behavior.shippng`), where
 * nothing has the right name. They are there and cannot be read: shoppers would pay no shipping, or no tax. An object
 * without a member of the policy is the merchant's own.
 */
export function listMisspeltPolicies(manifest: Record<string, unknown>): Fault[] {
  const behavior = isObject(manifest.behavior) ? manifest.behavior : {}
  return membersNear(manifest, ['behavior']).flatMap(([part, , policies]) =>
    (isObject(policies) ? membersNear(policies, Object.keys(POLICIES)) : []).flatMap(
      ([name, meant, policy]) => {
        const isKnown = (member: string) => member in POLICIES[meant as keyof typeof POLICIES]
        if (behavior[meant] !== undefined || !isObject(policy)) return []
        if (!Object.keys(policy).some(isKnown)) return []
        const message = `cannot be read under this name; did you mean \`behavior.${meant}\`?`
        return [{ path: `/${pointerPart(part)}/${pointerPart(name)}`, message }]
      },
    ),
  )
}

/** The members that are almost, or exactly, named as known ones: with their names, and those that were meant. */
function membersNear(value: Record<string, unknown>, known: readonly string[]) {
  const compared = Object.entries(value).slice(0, COMPARED_MAX)
  return compared.flatMap(([name, each]) => {
    const meant = findNear(name, known)
    return meant === null ? [] : [[name, meant, each] as const]
  })
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
  const { shipping, tax, ...others } = behavior
  return [
    ...(isFree(shipping) ? [NO_RATES] : []),
    ...unknownOf(SHIPPING_PROPS, shipping, '/shipping'),
    ...deliveryFaults(shipping),
    ...unknownOf(TAX_PROPS, tax, '/tax'),
    ...listFaults(BEHAVIOR_PROPS, others, FAULTS_MAX).filter(
      ({ path }) => path !== STATEMENT_VERSION,
    ),
  ]
}

const NO_RATES: Fault = { path: '/shipping', message: 'names no rates, so that shipping is free' }

function deliveryFaults(shipping: unknown): Fault[] {
  if (!isObject(shipping)) return []
  const names = Object.keys(DELIVERY_PROPS).filter((name) => (shipping[name] ?? null) !== null)
  const given = Object.fromEntries(names.map((name) => [name, shipping[name]]))
  return at('/shipping', listFaults(DELIVERY_PROPS, given, FAULTS_MAX))
}

const STATEMENT_VERSION = '/funnelGate/statementVersion'

const unknownOf = (props: Parameters<typeof listUnknown>[0], value: unknown, base: string) =>
  isObject(value) ? at(base, listUnknown(props, value, FAULTS_MAX)) : []
