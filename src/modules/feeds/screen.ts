import { createHash } from 'node:crypto'
import { RULES_VERSION } from '@fairdock/claim-scanner/rules-version'
import type { Db } from '../../db/database.ts'
import type { StorefrontProduct } from '../catalog/schema.ts'
import type { Scanner } from '../health-claims/scanner.ts'
import * as healthClaims from '../health-claims/service.ts'
import * as queries from './queries.ts'
import type { ProductScan } from './schema.ts'

/** The texts of a product that a feed shows. */
const textsOf = ({ slug, name, description, variants }: StorefrontProduct): string[] => [
  name,
  description ?? '',
  slug,
  ...variants.flatMap(({ label, options }) => [
    label ?? '',
    ...options.flatMap((option) => [option.name, option.value]),
  ]),
]

interface Screened {
  product: StorefrontProduct
  texts: readonly string[]
  hash: Buffer
}

/**
 * Leaves out the products that the claim scanner refuses. A verdict is stored for the texts and the rules
 * that it was given for. A scan that could not run is an error, and never a pass (decision 0047).
 */
export async function leaveOutRefused(
  scanner: Scanner,
  db: Db,
  products: readonly StorefrontProduct[],
): Promise<StorefrontProduct[]> {
  const screened = products.map((product) => {
    const texts = [...new Set(textsOf(product))].filter((text) => text !== '')
    const hash = createHash('sha256').update(JSON.stringify(texts)).digest()
    return { product, texts, hash }
  })
  const ids = products.map(({ id }) => id)
  const stored = new Map((await queries.listScans(db, ids)).map((scan) => [scan.product_id, scan]))
  const isCurrent = ({ product, hash }: Screened) => {
    const scan = stored.get(product.id)
    return scan?.rules_version === RULES_VERSION && scan.text_hash.equals(hash)
  }
  const unknown = screened.filter((each) => !isCurrent(each))
  if (unknown.length > 0) {
    const refused = new Set(await findRefused(scanner, db, unknown))
    const scans = unknown.map((each) => toScan(each, !refused.has(each)))
    for (const scan of scans) stored.set(scan.product_id, scan)
    await queries.putScans(db, scans)
  }
  return products.filter(({ id }) => stored.get(id)?.passed)
}

const toScan = ({ product, hash }: Screened, passed: boolean): ProductScan => ({
  product_id: product.id,
  text_hash: hash,
  rules_version: RULES_VERSION,
  passed,
})

/** The place of a product in the scanned document, from the path of a finding. */
const placeOf = (path: string): number => Number(path.split('/')[1])

/**
 * Scans many products as one document, in the scanner's own thread. Where it has more findings than a
 * scan lists, its halves are scanned, since any product may have one of those left off.
 */
async function findRefused(
  scanner: Scanner,
  db: Db,
  some: readonly Screened[],
): Promise<readonly Screened[]> {
  const document = some.map(({ texts }) => texts)
  const { passed, findings, truncated } = await healthClaims.scan(document, {
    scanner,
    store: db.tenant,
  })
  if (passed) return []
  if (some.length === 1) return some
  if (truncated) {
    const half = Math.ceil(some.length / 2)
    const first = await findRefused(scanner, db, some.slice(0, half))
    return [...first, ...(await findRefused(scanner, db, some.slice(half)))]
  }
  const critical = findings.filter(({ severity }) => severity === 'CRITICAL')
  const places = new Set(critical.map(({ path }) => placeOf(path)))
  return some.filter((_, place) => places.has(place))
}
