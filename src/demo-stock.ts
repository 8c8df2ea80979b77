import { openMedia } from './app.ts'
import { emberSite, harbourSite, objectsSite } from './demo-site.ts'
import { ApiError, type ErrorCode } from './errors.ts'
import { drawScene } from './modules/catalog/demo-images.ts'
import { addSamples } from './modules/catalog/demo-seed.ts'
import { EMBER_AND_RYE, HOME, OBJECTS, type SampleSet } from './modules/catalog/demo-sets.ts'
import { createScanner } from './modules/claims/scanner.ts'
import * as entitlements from './modules/entitlements/service.ts'
import * as marketing from './modules/marketing/service.ts'
import { storeAsset } from './modules/media/service.ts'
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
  entrance: Parameters<typeof drawScene>[0]
}

export const DEMO_REF = 'demo'

/** Three stores that share one renderer and nothing else. */
export const DEMO_STORES: readonly DemoStore[] = [
  {
    tenant_ref: DEMO_REF,
    display_name: 'Harbour & Hearth',
    currency: 'USD',
    language: 'en-US',
    set: HOME,
    site: harbourSite,
    entrance: {
      palette: {
        wall: '#dfe8e6',
        table: '#c9b391',
        light: '#9cc3c4',
        dark: '#2f6671',
        accent: '#f0d9a8',
      },
      objects: [
        ['vase', 420, 1.15],
        ['teapot', 850, 0.95],
        ['mug', 1_220, 0.72],
      ],
    },
  },
  {
    tenant_ref: 'objects',
    display_name: 'Plain Objects',
    currency: 'GBP',
    language: 'en-GB',
    set: OBJECTS,
    site: objectsSite,
    entrance: {
      palette: {
        wall: '#f4f4f2',
        table: '#e2e2e0',
        light: '#ff6a55',
        dark: '#d1281d',
        accent: '#111111',
      },
      objects: [
        ['lamp', 260, 0.85],
        ['mug', 600, 0.68],
        ['bowl', 950, 0.66],
        ['cushion', 1_330, 0.72],
      ],
    },
  },
  {
    tenant_ref: 'ember',
    display_name: 'Glut & Roggen',
    currency: 'EUR',
    language: 'de-DE',
    set: EMBER_AND_RYE,
    site: emberSite,
    entrance: {
      palette: {
        wall: '#2a1a13',
        table: '#150d09',
        light: '#d98142',
        dark: '#5c2413',
        accent: '#f5cf86',
        lamp: '#ff9a5c',
      },
      objects: [
        ['candle', 880, 0.85],
        ['jar', 1_150, 0.62],
        ['bag', 1_410, 0.8],
      ],
    },
  },
]

/** The names of the demo stores that exist, filled or not. */
export async function listDemoStores({ database }: Runtime): Promise<string[]> {
  const found = await Promise.all(
    DEMO_STORES.map(({ tenant_ref }) => stores.find(database.tenant(tenant_ref))),
  )
  return found.flatMap((store) => (store === null ? [] : [store.tenant_ref]))
}

/** Whether the demo is complete: the last of its stores is created last. */
export async function isStocked({ database }: Runtime): Promise<boolean> {
  const { tenant_ref } = DEMO_STORES.at(-1) ?? { tenant_ref: DEMO_REF }
  const last = await stores.find(database.tenant(tenant_ref))
  return last !== null && last.status !== 'draft'
}

/**
 * Fills the demo stores, and creates those that do not exist yet. Work of an earlier start is left
 * as it is, so that an interrupted start is continued.
 */
export async function stockDemo(runtime: Runtime, all = DEMO_STORES): Promise<void> {
  // The scanner runs in a thread that ends here, so that its word lists do not stay in memory for
  // three pages.
  const scanner = createScanner({ inlineCharacters: 0 })
  try {
    for (const store of all) await openStore(runtime, store, scanner)
  } finally {
    await scanner.close()
  }
}

async function openStore(
  runtime: Runtime,
  store: DemoStore,
  scanner: ReturnType<typeof createScanner>,
): Promise<void> {
  const { database } = runtime
  const { tenant_ref, display_name, currency, language, set, site, entrance } = store
  const media = openMedia(runtime, () => null)
  const db = database.tenant(tenant_ref)
  if ((await stores.find(db)) === null) {
    await stores.create(database, SYSTEM, { tenant_ref, display_name, currency, language })
  }
  await addSamples(db, media, { actor: SYSTEM, set })
  const coupon = { code: 'WELCOME10', type: 'percent' as const, percent_bps: 1_000 }
  await ignoreExisting('code_exists', marketing.create(db, SYSTEM, coupon))
  // The demo sells coffee by subscription, which needs this add-on.
  await entitlements.enable(db, SYSTEM, 'subscriptions')
  const overview = await stores.get(db)
  // A site that was changed since then is not overwritten.
  if (overview.status === 'live' && overview.activeVersion !== 1) return
  const hero = await storeAsset(db, media, {
    bytes: await drawScene(entrance),
    contentType: 'image/jpeg',
    alt: 'The entrance',
  })
  const value = site(hero.asset_ref)
  await sites.saveActive({ db, actor: SYSTEM, scanner }, { value, text: JSON.stringify(value) })
  if (overview.status !== 'draft') return
  await stores.setStatus(db, SYSTEM, { status: 'live', reason: 'a demo store' })
}

export async function ignoreExisting(code: ErrorCode, creation: Promise<unknown>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== code) throw error
  })
}
