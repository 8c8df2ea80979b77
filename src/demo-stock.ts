import type { TenantDb } from './db/database.ts'
import { DEMO_REF } from './demo-file.ts'
import { EMBER_ICON, HARBOUR_ICON, MAKERS_MARKS, OBJECTS_ICON } from './demo-marks.ts'
import { emberSite, harbourSite, objectsSite, type SiteParts } from './demo-site.ts'
import type { ErrorCode } from './error-codes.ts'
import { ApiError } from './errors.ts'
import { DAY_MS, HOUR_MS } from './kernel/time.ts'
import * as entitlements from './modules/entitlements/service.ts'
import { createScanner } from './modules/health-claims/scanner.ts'
import { adjust } from './modules/inventory/adjust.ts'
import * as inventory from './modules/inventory/service.ts'
import * as marketing from './modules/marketing/service.ts'
import { openMedia } from './modules/media/open.ts'
import { storeAsset } from './modules/media/service.ts'
import { drawView, IMAGE_TYPE, type View } from './modules/samples/images.ts'
import { addSamples } from './modules/samples/service.ts'
import { EMBER_AND_RYE, HOME_AND_GIFTS, OBJECTS, type SampleSet } from './modules/samples/sets.ts'
import * as sites from './modules/sites/service.ts'
import * as stores from './modules/stores/service.ts'
import { SYSTEM } from './platform/audit.ts'
import type { Runtime } from './runtime.ts'

interface DemoStore {
  tenant_ref: string
  display_name: string
  currency: string
  language: string
  set: SampleSet
  site: typeof harbourSite
  hero: View
  story: View
  icon: string
  logos?: typeof MAKERS_MARKS
  /** In how many days the store's countdown ends. */
  countdownDays?: number
  /** The variants whose stock is counted, by SKU: one is sold out, and another has few units left. */
  stock: Readonly<Record<string, number>>
}

/** The add-ons that a shopper can try: coffee by subscription, a gift card, store credit. */
const ADD_ONS = ['subscriptions', 'subscribe_and_save', 'gift_cards', 'store_credit']

const LOW_STOCK = 5
const WIDE = [1_600, 1_000] as const

const HARBOUR = {
  wall: '#efe6d8',
  table: '#cfae88',
  light: '#9cc3c4',
  dark: '#2f6671',
  accent: '#efb95a',
}
const HARBOUR_CLAY = { ...HARBOUR, light: '#dba67c', dark: '#8f4f2b' }
const STUDIO = {
  wall: '#f2c14e',
  table: '#f2c14e',
  light: '#ff6a55',
  dark: '#b8231a',
  accent: '#fff4e6',
}
const STUDIO_BLACK = { ...STUDIO, light: '#5a5a5c', dark: '#141416', accent: '#e5352b' }
const STUDIO_BLUE = { ...STUDIO, light: '#5b86ff', dark: '#1437b8' }
const EVENING = {
  wall: '#33231b',
  table: '#3a2418',
  light: '#d98142',
  dark: '#6a2a14',
  accent: '#f2b35c',
}
const EVENING_HONEY = { ...EVENING, light: '#f2b749', dark: '#96540c' }

/** Three stores that share one renderer and nothing else. */
export const DEMO_STORES: readonly DemoStore[] = [
  {
    tenant_ref: DEMO_REF,
    display_name: 'Harbour & Hearth',
    currency: 'USD',
    language: 'en-US',
    set: HOME_AND_GIFTS,
    site: harbourSite,
    hero: {
      room: 'day',
      palette: HARBOUR,
      size: WIDE,
      prop: 'board',
      objects: [
        { motif: 'vase', at: 0.24, scale: 1.02, palette: HARBOUR_CLAY },
        { motif: 'teapot', at: 0.5, scale: 1, nearer: 0.04 },
        { motif: 'mug', at: 0.77, scale: 0.72, nearer: 0.05, palette: HARBOUR_CLAY },
      ],
    },
    story: {
      room: 'day',
      palette: HARBOUR,
      size: [1_200, 1_000],
      prop: 'cloth',
      objects: [
        { motif: 'bowl', at: 0.26, scale: 0.74, palette: HARBOUR_CLAY },
        { motif: 'mug', at: 0.62, scale: 1.05, nearer: 0.06 },
      ],
    },
    icon: HARBOUR_ICON,
    stock: { 'DEMO-VASE': 0, 'DEMO-BOWL-L': 3, 'DEMO-BOWL-S': 40 },
  },
  {
    tenant_ref: 'objects',
    display_name: 'Plain Objects',
    currency: 'GBP',
    language: 'en-GB',
    set: OBJECTS,
    site: objectsSite,
    hero: {
      room: 'studio',
      palette: STUDIO,
      size: WIDE,
      objects: [
        { motif: 'lamp', at: 0.16, scale: 1, palette: STUDIO_BLACK },
        { motif: 'teapot', at: 0.39, scale: 0.86, palette: STUDIO_BLUE },
        { motif: 'bowl', at: 0.63, scale: 0.8, nearer: 0.05, palette: STUDIO },
        { motif: 'vase', at: 0.85, scale: 0.92, palette: STUDIO_BLACK },
      ],
    },
    story: {
      room: 'studio',
      palette: STUDIO,
      size: [1_200, 1_000],
      objects: [
        { motif: 'teapot', at: 0.36, scale: 1, palette: STUDIO_BLACK },
        { motif: 'mug', at: 0.74, scale: 0.8, nearer: 0.06 },
      ],
    },
    icon: OBJECTS_ICON,
    logos: MAKERS_MARKS,
    stock: { 'OBJ-BLANKET': 0, 'OBJ-POT': 2 },
  },
  {
    tenant_ref: 'ember',
    display_name: 'Glut & Roggen',
    currency: 'EUR',
    language: 'de-DE',
    set: EMBER_AND_RYE,
    site: emberSite,
    hero: {
      room: 'night',
      palette: EVENING,
      size: WIDE,
      objects: [
        { motif: 'bag', at: 0.9, scale: 0.86 },
        { motif: 'jar', at: 0.72, scale: 0.72, palette: EVENING_HONEY },
        { motif: 'candle', at: 0.54, scale: 0.92, nearer: 0.04 },
      ],
    },
    story: {
      room: 'night',
      palette: EVENING,
      size: [1_200, 1_000],
      objects: [
        { motif: 'candle', at: 0.26, scale: 0.86 },
        { motif: 'bar', at: 0.62, scale: 1.02, nearer: 0.07 },
      ],
    },
    icon: EMBER_ICON,
    countdownDays: 21,
    stock: { 'EMB-LAMP': 0, 'EMB-HON-500': 4, 'EMB-HON-250': 60 },
  },
]

interface StockOptions {
  all?: readonly DemoStore[]
  /** How many images the product with that slug gets: drawing all of them takes seconds. */
  imagesMax?: ((slug: string) => number) | undefined
}

/**
 * Fills the demo stores, and creates those that do not exist yet. Work of an earlier start is left
 * as it is, so that an interrupted start is continued.
 */
export async function stockDemo(
  runtime: Runtime,
  { all = DEMO_STORES, imagesMax }: StockOptions = {},
): Promise<void> {
  // The scanner runs in a thread that ends here, so that its word lists do not stay in memory because of three pages.
  const scanner = createScanner({ inlineCharacters: 0 })
  try {
    for (const store of all) await openStore(runtime, store, { scanner, imagesMax })
  } finally {
    await scanner.close()
  }
}

interface OpenOptions extends Pick<StockOptions, 'imagesMax'> {
  scanner: ReturnType<typeof createScanner>
}

async function openStore(runtime: Runtime, store: DemoStore, options: OpenOptions): Promise<void> {
  const { database } = runtime
  const { tenant_ref, display_name, currency, language, set, site } = store
  const { scanner, imagesMax } = options
  const media = openMedia({ ...runtime, assetBase: () => null })
  const db = database.tenant(tenant_ref)
  if ((await stores.find(db)) === null) {
    await stores.create(database, SYSTEM, { tenant_ref, display_name, currency, language })
  }
  await addSamples(db, media, { actor: SYSTEM, set, imagesMax })
  const coupon = { code: 'WELCOME10', type: 'percent' as const, percent_bps: 1_000 }
  await ignoreExisting('code_exists', marketing.create(db, SYSTEM, coupon))
  for (const feature of ADD_ONS) await entitlements.enable(db, SYSTEM, feature)
  const overview = await stores.get(db)
  // A site that was changed after the demo was created is not overwritten.
  if (overview.status === 'live' && overview.activeVersion !== 1) return
  await countStock(db, store)
  const value = site(await makeParts(db, media, store))
  await sites.saveActive({ db, actor: SYSTEM, scanner }, { value, text: JSON.stringify(value) })
  if (overview.status !== 'draft') return
  await stores.setStatus(db, SYSTEM, { status: 'live', reason: 'a demo store' })
}

/** Draws and stores the images of a store's site. */
async function makeParts(
  db: TenantDb,
  media: ReturnType<typeof openMedia>,
  { hero, story, icon, logos = [], countdownDays }: DemoStore,
): Promise<SiteParts> {
  const keep = async (bytes: Buffer, contentType: typeof IMAGE_TYPE | 'image/svg+xml') =>
    (await storeAsset(db, media, { bytes, contentType, alt: null })).asset_ref
  const draw = async (view: View) => keep(await drawView(view), IMAGE_TYPE)
  const keepSvg = (svg: string) => keep(Buffer.from(svg), 'image/svg+xml')
  const ends = countdownDays === undefined ? null : db.clock.now() + countdownDays * DAY_MS
  const wholeHour = (ms: number) => new Date(ms - (ms % HOUR_MS)).toISOString()
  return {
    hero: await draw(hero),
    story: await draw(story),
    icon: await keepSvg(icon),
    logos: await Promise.all(
      logos.map(async ({ alt, svg }) => ({ alt, imageRef: await keepSvg(svg) })),
    ),
    until: ends === null ? null : wholeHour(ends),
  }
}

/** Counts the stock of a few variants, so that "sold out" and "few left" can be seen. */
async function countStock(db: TenantDb, { stock }: DemoStore): Promise<void> {
  await stores.updateSettings(db, SYSTEM, { stock_hint: 'low' })
  for (const [sku, set_on_hand] of Object.entries(stock)) {
    const { items } = await inventory.list(db, { sku, low: undefined }, { limit: 1, offset: 0 })
    const id = items[0]?.variant_id
    if (id === undefined) continue
    const settings = { track_inventory: true, low_stock_threshold: LOW_STOCK }
    await inventory.putSettings(db, SYSTEM, id, settings)
    await adjust(db, { actor: SYSTEM, keep: async () => {} }, id, {
      set_on_hand,
      reason: 'the first count',
    })
  }
}

export async function ignoreExisting(code: ErrorCode, creation: Promise<unknown>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== code) throw error
  })
}
