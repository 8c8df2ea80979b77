import { readShippingCountries } from '../../../manifest/countries.ts'
import { LEGAL_PROPS } from '../../../manifest/legal-props.ts'
import { PAGE_KINDS, PAGE_PROPS, PAGES_MAX, type PageKind } from '../../../manifest/page-props.ts'
import { readProps } from '../../../manifest/read-props.ts'
import type { Db } from '../../db/database.ts'
import { isoNow } from '../../kernel/clock.ts'
import * as catalog from '../catalog/service.ts'
import * as domains from '../domains/service.ts'
import * as entitlements from '../entitlements/service.ts'
import type { Scanner } from '../health-claims/scanner.ts'
import type { Severity } from '../health-claims/schema.ts'
import * as healthClaims from '../health-claims/service.ts'
import * as sites from '../sites/service.ts'
import { member } from '../sites/switches.ts'
import type { Store } from '../stores/schema.ts'
import * as stores from '../stores/service.ts'
import {
  COMPLIANCE_SEVERITIES,
  type Compliance,
  type ComplianceCode,
  type ComplianceItem,
  type ComplianceSeverity,
} from './compliance-schema.ts'

/**
 * What a store still has to do, worked out from what it has published. It is read when it is asked for: nothing of it
 * is stored, so that it is never out of date.
 */

/** Products whose texts are checked: the newest, as many as one look takes. */
const PRODUCTS_MAX = 200
const ITEMS_MAX = 400

/** The union, its economic area, and those whose law on selling at a distance is alike. */
const EUROPE: ReadonlySet<string> = new Set(
  'AT BE BG CH CY CZ DE DK EE ES FI FR GB GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK'.split(
    ' ',
  ),
)

/** Where who sells must be named on a page of its own. */
const IMPRINT: ReadonlySet<string> = new Set(['AT', 'CH', 'DE', 'LI'])

const OF_CLAIM: Record<Severity, ComplianceSeverity> = {
  CRITICAL: 'critical',
  WARNING: 'warning',
  INFO: 'info',
}

export async function readCompliance(db: Db, scanner: Scanner): Promise<Compliance> {
  const store = await stores.get(db)
  const manifest =
    store.activeVersion === null ? null : await sites.readManifest(db, store.activeVersion)
  const [scanned, products, features, { domains: active }] = await Promise.all([
    healthClaims.scan(manifest, { scanner, store: db.tenant }),
    scanProducts(db, scanner),
    entitlements.listStates(db),
    domains.list(db, 'active', { limit: 1, offset: 0 }),
  ])
  const isOn = (key: string) =>
    features.some(({ feature_key, state }) => feature_key === key && state === 'on')
  const items = [
    ...scanned.findings.map(({ severity, path, term, rule }) =>
      item('claim_found', OF_CLAIM[severity], path, `“${term}” is a claim (${rule}). Reword it.`),
    ),
    ...products.items,
    ...(manifest === null ? [NO_SITE] : [...lackingPages(manifest), ...lackingTerms(manifest)]),
    ...(active.length === 0 ? [lackingDomain(store)] : []),
    ...(isOn('funnel_gate') && !hasStatement(manifest) ? [NO_STATEMENT] : []),
  ]
  return {
    checked_at: isoNow(db.clock),
    version: store.activeVersion,
    rules_version: scanned.rulesVersion,
    products_checked: products.checked,
    products_total: products.total,
    counts: countsOf(items),
    items: items.toSorted(byRank).slice(0, ITEMS_MAX),
  }
}

const item = (
  code: ComplianceCode,
  severity: ComplianceSeverity,
  path: string,
  message: string,
): ComplianceItem => ({ code, severity, path, message })

const rankOf = ({ severity }: ComplianceItem) => COMPLIANCE_SEVERITIES.indexOf(severity)
const byRank = (one: ComplianceItem, other: ComplianceItem) => rankOf(one) - rankOf(other)

function countsOf(items: readonly ComplianceItem[]): Compliance['counts'] {
  const count = (severity: ComplianceSeverity) =>
    items.filter((each) => each.severity === severity).length
  return { critical: count('critical'), warning: count('warning'), info: count('info') }
}

/** Checks the texts of the newest products for sale. */
async function scanProducts(db: Db, scanner: Scanner) {
  const page = { limit: PRODUCTS_MAX, offset: 0, after: null }
  const { products, total } = await catalog.list(db, { status: 'active' }, page)
  const texts = products.map(({ name, description }) => ({ name, description }))
  const { findings } = await healthClaims.scan(texts, { scanner, store: db.tenant })
  const items = findings.flatMap(({ severity, path, term, rule }) => {
    const product = products[Number(path.split('/')[1])]
    if (product === undefined || rule === 'missing_disclaimer') return []
    const where = `/v1/merchant/catalog/products/${product.id}`
    const text = `“${term}” in ${product.slug} is a claim (${rule}). Reword it.`
    return [item('product_claim_found', OF_CLAIM[severity], where, text)]
  })
  return { items, checked: products.length, total }
}

const NO_SITE = item(
  'site_missing',
  'critical',
  '/v1/my/site/publish',
  'No site is published, so nothing of what a shop must say is said. Publish one.',
)

const NO_STATEMENT = item(
  'statement_missing',
  'warning',
  '/behavior/funnelGate',
  'The add-on that asks for a statement is on, and the site asks for none. Set `enabled` and `statementVersion`.',
)

const hasStatement = (manifest: unknown): boolean =>
  member(member(member(manifest, 'behavior'), 'funnelGate'), 'enabled') === true

function lackingDomain({ status }: Store): ComplianceItem {
  const severity = status === 'live' ? 'warning' : 'info'
  const message = 'The store has no hostname of its own. Claim one, and set its TXT record.'
  return item('domain_missing', severity, '/v1/merchant/domains', message)
}

/** The kinds of pages that a manifest has. A page whose slug is a kind has that kind. */
function pageKinds(manifest: unknown): ReadonlySet<PageKind> {
  const pages = member(manifest, 'pages')
  const kinds = (Array.isArray(pages) ? pages.slice(0, PAGES_MAX) : []).flatMap((each) => {
    const { slug, kind, body_markdown } = readProps(PAGE_PROPS, each)
    if (slug === null || !body_markdown?.trim()) return []
    return kind === 'other' ? (PAGE_KINDS.find((known) => known === slug) ?? []) : kind
  })
  return new Set(kinds)
}

/** The pages that the law of a country that the store sells to asks for. */
function lackingPages(manifest: unknown): ComplianceItem[] {
  const kinds = pageKinds(manifest)
  const countries = countriesOf(manifest)
  const sellsTo = (places: ReadonlySet<string>) =>
    countries === null || countries.some((each) => places.has(each))
  // A store that does not say where it sells may not sell there: that it must say is an item of its own.
  const byLaw: ComplianceSeverity = countries === null ? 'warning' : 'critical'
  const wanted: [PageKind, ComplianceCode, ComplianceSeverity, isWanted: boolean, why: string][] = [
    ['privacy', 'privacy_missing', 'critical', true, 'what becomes of personal data'],
    ['imprint', 'imprint_missing', byLaw, sellsTo(IMPRINT), 'who sells'],
    ['withdrawal', 'withdrawal_missing', byLaw, sellsTo(EUROPE), 'how to withdraw from a purchase'],
    ['terms', 'terms_missing', 'warning', true, 'the terms of sale'],
    [
      'shipping',
      'shipping_info_missing',
      'warning',
      true,
      'what shipping costs, and how long it takes',
    ],
  ]
  return wanted
    .filter(([kind, , , isWanted]) => isWanted && !kinds.has(kind))
    .map(([kind, code, severity, , why]) =>
      item(code, severity, '/pages', `No page of the kind \`${kind}\` says ${why}. Add one.`),
    )
}

const countriesOf = (manifest: unknown) =>
  readShippingCountries(member(member(member(manifest, 'behavior'), 'shipping'), 'countries'))

/** What a shop must have said about itself before it sells. */
function lackingTerms(manifest: unknown): ComplianceItem[] {
  const behavior = member(manifest, 'behavior')
  const legal = readProps(LEGAL_PROPS, member(manifest, 'legal') ?? {})
  const email = legal.email ?? member(member(manifest, 'brand'), 'email')
  const lacking: (ComplianceItem | false)[] = [
    (legal.name === null || legal.address === null) &&
      item(
        'seller_missing',
        'critical',
        '/legal',
        'Invoices need the name and the address of the business. Set `legal.name` and `legal.address`.',
      ),
    typeof email !== 'string' &&
      item(
        'contact_missing',
        'warning',
        '/legal/email',
        'Shoppers find no address to write to. Set `legal.email` or `brand.email`.',
      ),
    member(behavior, 'tax') === undefined &&
      item(
        'tax_missing',
        'warning',
        '/behavior/tax',
        'No tax is charged. Set how it is worked out, or `{"provider": "null", "rate_bps": 0}` if none is due.',
      ),
    member(behavior, 'shipping') === undefined &&
      item(
        'shipping_missing',
        'warning',
        '/behavior/shipping',
        'Delivery is free everywhere. Set what it costs.',
      ),
    countriesOf(manifest) === null &&
      item(
        'countries_missing',
        'info',
        '/behavior/shipping/countries',
        'The store sells to every country, and has to obey the law of each. Name those it ships to.',
      ),
  ]
  return lacking.filter((each) => each !== false)
}
