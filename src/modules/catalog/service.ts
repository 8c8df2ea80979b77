import { mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { Actor } from '../../platform/audit.ts'
import type { Finding } from '../claims/schema.ts'
import * as claims from '../claims/service.ts'
import * as stores from '../stores/service.ts'
import { announce } from './announce.ts'
import { newProduct, newVariant, patchedProduct, patchedVariant } from './input.ts'
import { listSaleVariants } from './public-queries.ts'
import * as queries from './queries.ts'
import type {
  FullProduct,
  NewProduct,
  NewVariant,
  ProductPatch,
  ProductRow,
  SaleVariant,
  Variant,
  VariantPatch,
} from './schema.ts'

const SLUG_TAKEN = { products_slug: 'slug_exists' } as const
const SKU_TAKEN = { variants_sku: 'sku_exists' } as const

export async function create(db: TenantDb, actor: Actor, given: NewProduct) {
  const fields = newProduct(given)
  const product = await db.transaction('catalog: create product', async (tx) => {
    const row = await mapViolations(queries.insertProduct(tx, fields), SLUG_TAKEN)
    await announce(tx, actor, { action: 'product.created', entity: nameOf(row), after: row })
    return { ...row, images: [], variants: [] }
  })
  return { product, warnings: await findClaims(product) }
}

/** Changes only what is sent. */
export async function update(db: TenantDb, actor: Actor, id: string, patch: ProductPatch) {
  const product = await change(db, 'catalog: update product', id, async (tx, before) => {
    const fields = patchedProduct(before, patch)
    const row = await mapViolations(queries.updateProduct(tx, id, fields), SLUG_TAKEN)
    await announce(tx, actor, {
      action: 'product.updated',
      entity: nameOf(row),
      before,
      after: row,
    })
  })
  return { product, warnings: await findClaims(product) }
}

/** Takes a product out of sale for good. Repeating it is harmless. */
export function archive(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'catalog: archive product', id, async (tx, before) => {
    if (before.status === 'archived') return
    const after = await queries.updateStatus(tx, id, 'archived')
    await announce(tx, actor, { action: 'product.archived', entity: nameOf(after), before, after })
  })
}

/** The one way from draft to active, on the operator's word. */
export function activate(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'catalog: activate product', id, async (tx, before) => {
    if (before.status === 'active') return
    if (before.status === 'archived') throw inArchive()
    const after = await queries.updateStatus(tx, id, 'active')
    await announce(tx, actor, { action: 'product.activated', entity: nameOf(after), before, after })
  })
}

const inArchive = () =>
  new ApiError('invalid_transition', { body: { current_status: 'archived', allowed: [] } })

export async function get(db: Db, id: string): Promise<FullProduct> {
  const product = isUuid(id) ? await queries.findProduct(db, id) : null
  if (product === null) throw new ApiError('product_not_found')
  return product
}

/** The store's products, newest first: all of them, unless a page is asked for. */
export async function list(db: Db, filters: queries.ProductFilters, page: Page | null) {
  const [products, { total }] = await Promise.all([
    queries.listProducts(db, filters, page ?? { limit: null, offset: 0 }),
    queries.countProducts(db, filters),
  ])
  return { products, total, ...(page ?? { limit: products.length, offset: 0 }) }
}

const nameOf = ({ id }: Pick<ProductRow, 'id'>) => `product:${id}`

/** One change of a product, which follows the one before. Answers what it is now. */
export function change(
  db: TenantDb,
  name: string,
  id: string,
  apply: (tx: Tx, before: ProductRow) => Promise<unknown>,
): Promise<FullProduct> {
  return db.transaction(name, async (tx) => {
    await apply(tx, await lock(tx, id))
    return get(tx, id)
  })
}

async function lock(tx: Tx, id: string): Promise<ProductRow> {
  const product = isUuid(id) ? await queries.lockProduct(tx, id) : null
  if (product === null) throw new ApiError('product_not_found')
  return product
}

/**
 * What the claim scan objects to in a product's text. That is advice: a scan that could not run
 * says so by null, and costs nobody the product.
 */
export async function findClaims(
  { name, description }: Pick<ProductRow, 'name' | 'description'>,
  scanText = claims.scanText,
): Promise<Finding[] | null> {
  try {
    const texts = Object.entries({ name, description: description ?? '' })
    const scans = texts.map(async ([member, text]) => {
      const { findings } = await scanText(text)
      return findings.map((finding) => ({ ...finding, path: `/${member}` }))
    })
    return (await Promise.all(scans)).flat()
  } catch {
    return null
  }
}

export function createVariant(db: TenantDb, actor: Actor, productId: string, given: NewVariant) {
  return db.transaction('catalog: create variant', async (tx) => {
    const { status } = await lock(tx, productId)
    if (status === 'archived') throw inArchive()
    const { currency } = await stores.get(tx)
    const fields = newVariant(given, currency)
    const variant = await mapViolations(queries.insertVariant(tx, productId, fields), SKU_TAKEN)
    const entity = `variant:${variant.id}`
    await Promise.all([
      queries.touchProduct(tx, productId),
      announce(tx, actor, { action: 'variant.created', entity, after: variant }),
    ])
    return variant
  })
}

interface VariantPath {
  id: string
  variantId: string
}

export function updateVariant(db: TenantDb, actor: Actor, path: VariantPath, patch: VariantPatch) {
  return changeVariant(db, 'catalog: update variant', path, async (tx, before) => {
    const fields = patchedVariant(before, patch)
    const after = await mapViolations(queries.updateVariant(tx, before.id, fields), SKU_TAKEN)
    const entity = `variant:${after.id}`
    await announce(tx, actor, { action: 'variant.updated', entity, before, after })
    return after
  })
}

/** Takes a variant out of sale for good. Repeating it is harmless. */
export function archiveVariant(db: TenantDb, actor: Actor, path: VariantPath) {
  return changeVariant(db, 'catalog: archive variant', path, async (tx, before) => {
    if (before.archived_at !== null) return before
    const after = await queries.archiveVariant(tx, before.id)
    const entity = `variant:${after.id}`
    await announce(tx, actor, { action: 'variant.archived', entity, before, after })
    return after
  })
}

function changeVariant(
  db: TenantDb,
  name: string,
  { id, variantId }: VariantPath,
  apply: (tx: Tx, before: Variant) => Promise<Variant>,
): Promise<Variant> {
  return db.transaction(name, async (tx) => {
    const product = isUuid(id) ? await queries.lockProduct(tx, id) : null
    const found = isUuid(variantId) ? await queries.findVariant(tx, variantId) : null
    if (product === null || found === null || found.product_id !== product.id) {
      throw new ApiError('variant_not_found')
    }
    const after = await apply(tx, found)
    await queries.touchProduct(tx, product.id)
    return after
  })
}

/**
 * Whether a variant is, or may yet be, for sale: the archive is final, for it and for its product.
 */
export const isLivingVariant = async (db: Db, id: string): Promise<boolean> =>
  isUuid(id) && (await queries.hasLivingVariant(db, id)).living

/**
 * What a cart may hold: those of the variants that are not archived, of products that are active,
 * in no particular order. What cannot be bought is missing.
 */
export async function variantsForSale(db: Db, ids: readonly string[]): Promise<SaleVariant[]> {
  const known = ids.filter(isUuid)
  return known.length === 0 ? [] : listSaleVariants(db, known)
}
