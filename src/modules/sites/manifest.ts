import { BRAND_PROPS } from '../../../manifest/behavior-props.ts'
import { isCountry } from '../../../manifest/countries.ts'
import { LEGAL_PROPS } from '../../../manifest/legal-props.ts'
import { PRICE_PROPS } from '../../../manifest/policies.ts'
import { object, type Props } from '../../../manifest/prop.ts'
import { type Fault, listFaults, listUnknown, pointerPart } from '../../../manifest/read-props.ts'
import { isSectionName, SECTION_TYPES } from '../../../manifest/section-types.ts'
import { THEME_TOKENS } from '../../../manifest/theme-tokens.ts'
import { canonicalHash } from '../../kernel/canonical-json.ts'
import { findNear } from '../../kernel/near-names.ts'
import { listBehaviorFaults, withoutNulls } from './behavior-faults.ts'
import { isObject, listMenuFaults, listPageFaults, listWeightFaults } from './page-warnings.ts'
import type { Manifest, Warning } from './schema.ts'

/** A manifest as it was received: parsed, to be checked, and as the original text, to be stored. */
export interface ReceivedManifest {
  value: Manifest
  text: string
}

/**
 * Computes the hash of a manifest. Equal manifests have equal hashes, however their keys are ordered and their
 * numbers written.
 */
export const hashOf = ({ value }: ReceivedManifest): string => canonicalHash(value)

const NAME_LENGTH_MAX = 200

/** Returns the name shown in the list of versions, if the brand has one. */
export function brandNameOf({ value }: ReceivedManifest): string | null {
  const name = value.brand?.name
  if (typeof name !== 'string') return null
  // Cut by characters, since half of a surrogate pair cannot be stored. The first slice limits the
  // work.
  return [...name.slice(0, 2 * NAME_LENGTH_MAX)].slice(0, NAME_LENGTH_MAX).join('')
}

const WARNINGS_MAX = 200

/**
 * Lists the parts of a manifest that a storefront may not show as intended, or that prevent
 * checkouts. They are warnings only: the manifest is stored as it is.
 */
export function listWarnings({ value }: ReceivedManifest): Warning[] {
  const { pages, menus, legal } = value as Record<string, unknown>
  const { faults, sections: ofPages } = listPageFaults(pages)
  const warnings = [
    ...warningsOf(listMisspeltParts(value), 'unexpected_value', ''),
    ...listFunnelGateWarnings(value),
    ...warningsOf(listCountryFaults(value), 'unexpected_value', ''),
    ...warningsOf(listBehaviorFaults(value.behavior), 'unexpected_value', '/behavior'),
    ...listPartWarnings(BRAND_PROPS, withoutNulls(value.brand), '/brand'),
    ...listThemeWarnings(value),
    ...listPartWarnings(LEGAL_PROPS, legal, '/legal'),
    ...listPartWarnings(PRICE_PROPS, value.tax, '/tax'),
    ...warningsOf([...faults, ...listMenuFaults(menus, pages)], 'unexpected_value', ''),
  ]
  const home = '/template/sections'
  const homeSections = value.template?.sections ?? []
  warnings.push(...warningsOf(listWeightFaults(homeSections, null), 'unexpected_value', home))
  const ofHome = homeSections.map((section, index) => ({ section, path: `${home}/${index}` }))
  for (const { section, path } of [...ofHome, ...ofPages]) {
    if (warnings.length >= WARNINGS_MAX) break
    warnings.push(...listSectionWarnings(section, path))
  }
  // The last section may have added more than the limit.
  return warnings.slice(0, WARNINGS_MAX)
}

/** How many warnings are listed of one section; a person would not read more. */
const SECTION_WARNINGS_MAX = 10

const KNOWN_TYPES = Object.keys(SECTION_TYPES).join(', ')

/**
 * Lists the warnings of a section. Its form is checked here too: the schema of a manifest checks it for sections of
 * the home page alone, and those of content pages may be anything.
 */
function listSectionWarnings(section: unknown, path: string): Warning[] {
  const { type, props } = isObject(section) ? section : {}
  if (typeof type !== 'string' || !isObject(props)) {
    const message = 'must have a type and props'
    return warningsOf([{ path: '', message }], 'unexpected_value', path)
  }
  if (isSectionName(type)) {
    const faults = listFaults(SECTION_TYPES[type].props, props, SECTION_WARNINGS_MAX)
    return warningsOf(faults, 'unexpected_props', `${path}/props`)
  }
  const message = `This section type is not registered: a storefront may not show it. Registered are ${KNOWN_TYPES}.`
  return [{ path: `${path}/type`, code: 'unregistered_section', message }]
}

/** The parts of a manifest that anything of ours reads. */
const PARTS = 'store brand theme template seo behavior tax pages menus legal'.split(' ')

/** How many unknown parts are compared with the known ones: no person writes more of them. */
const COMPARED_MAX = 1_000

/**
 * Lists the parts whose names are almost those of known ones: all that such a part says would count for nothing. Other
 * parts are the merchant's own.
 */
function listMisspeltParts(manifest: Manifest): Fault[] {
  const unknown = Object.keys(manifest).filter((name) => !PARTS.includes(name))
  return unknown.slice(0, COMPARED_MAX).flatMap((name) => {
    const near = findNear(name, PARTS)
    if (near === null) return []
    const message = `is not known here; did you mean \`${near}\`?`
    return [{ path: `/${pointerPart(name)}`, message }]
  })
}

function listThemeWarnings({ theme }: Manifest): Warning[] {
  const tokens = Object.entries<Props>(THEME_TOKENS)
  const known = Object.fromEntries(tokens.map(([name, props]) => [name, object(name, props)]))
  return [
    ...tokens.flatMap(([name, props]) => listPartWarnings(props, theme?.[name], `/theme/${name}`)),
    ...warningsOf(listUnknown(known, theme ?? {}, WARNINGS_MAX), 'unexpected_value', '/theme'),
  ]
}

/** Lists the faults of a part that a manifest may leave out. */
function listPartWarnings(props: Props, given: unknown, path: string): Warning[] {
  if (given === undefined) return []
  if (!isObject(given)) {
    return warningsOf([{ path: '', message: 'must be an object' }], 'unexpected_value', path)
  }
  return warningsOf(listFaults(props, given, SECTION_WARNINGS_MAX), 'unexpected_value', path)
}

const warningsOf = (faults: readonly Fault[], code: Warning['code'], base: string): Warning[] =>
  faults.map(({ path, message }) => ({ path: base + path, code, message }))

/** The longest version that a checkout may name. */
const STATEMENT_VERSION_LENGTH_MAX = 100

function listFunnelGateWarnings({ behavior }: Manifest): Warning[] {
  const funnelGate = behavior?.funnelGate as {
    enabled?: unknown
    statementVersion?: unknown
  } | null
  if (funnelGate?.enabled !== true) return []
  const { statementVersion: version } = funnelGate
  const length = typeof version === 'string' ? version.length : 0
  if (typeof version === 'number' || (length > 0 && length <= STATEMENT_VERSION_LENGTH_MAX))
    return []
  const message =
    'Must be a text of 1 to 100 characters. Without it no checkout succeeds while the store has the funnel_gate add-on.'
  const path = '/behavior/funnelGate/statementVersion'
  return [{ path, code: 'unusable_statement', message }]
}

const COUNTRY_FAULTS_MAX = 10
const COUNTRY_FORM = 'must be the ISO 3166-1 code of a country, such as DE'

/** Lists the faults in the store's own country and in those it ships to: a checkout refuses all other countries. */
function listCountryFaults({ store, behavior }: Manifest): Fault[] {
  const own = store?.country
  const faults: Fault[] =
    own === undefined || isCountry(own) ? [] : [{ path: '/store/country', message: COUNTRY_FORM }]
  const { countries } = isObject(behavior?.shipping) ? behavior.shipping : {}
  const path = '/behavior/shipping/countries'
  if (countries === undefined || countries === null) return faults
  if (!Array.isArray(countries))
    return [...faults, { path, message: 'must be a list of countries' }]
  const wrong = countries.flatMap((each, index) =>
    isCountry(each) ? [] : [{ path: `${path}/${index}`, message: COUNTRY_FORM }],
  )
  if (wrong.length < countries.length) return [...faults, ...wrong.slice(0, COUNTRY_FAULTS_MAX)]
  const message = 'names no country, so that the store ships to every country'
  return [...faults, { path, message }, ...wrong.slice(0, COUNTRY_FAULTS_MAX)]
}
