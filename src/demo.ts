import { randomBytes } from 'node:crypto'
import { DEMO_REF, type Demo, readDemo, writeDemo } from './demo-file.ts'
import { issueDemoGiftCard } from './demo-gift-card.ts'
import { harbourSite, NO_PARTS } from './demo-site.ts'
import { ignoreExisting } from './demo-stock.ts'
import { SCOPES } from './kernel/scopes.ts'
import * as credentials from './modules/credentials/service.ts'
import { createScanner } from './modules/health-claims/scanner.ts'
import { openIdentity } from './modules/identity/open.ts'
import * as identity from './modules/identity/service.ts'
import * as sites from './modules/sites/service.ts'
import * as stores from './modules/stores/service.ts'
import { SYSTEM } from './platform/audit.ts'
import type { Runtime } from './runtime.ts'

/**
 * Creates a demo store when there is no store at all. Its credentials are stored beside the secrets, so that each
 * start can show them again. Returns null where the installation has stores of its own.
 */
export async function seedDemo(runtime: Runtime): Promise<Demo | null> {
  const { config } = runtime
  const { total } = await stores.list(
    runtime.operatorDatabase.allStores,
    {},
    { limit: 1, offset: 0 },
  )
  const stored = await readDemo(config)
  // Without a key in the file, an earlier start was killed before it had finished: this one continues.
  const isIncomplete = stored?.merchant_key === ''
  if (total > 0 && !isIncomplete) return stored === null ? null : addGiftCard(runtime, stored)
  const password = randomBytes(12).toString('base64url')
  const owner = isIncomplete ? stored.owner : { email: 'owner@demo.example', password }
  // Stored before the owner is created, since a password cannot be read back.
  await writeDemo(config, { tenant_ref: DEMO_REF, owner, merchant_key: '' })
  const demo = { tenant_ref: DEMO_REF, owner, merchant_key: await createDemo(runtime, owner) }
  await writeDemo(config, demo)
  return addGiftCard(runtime, demo)
}

/** Issues the demo's gift card, unless it has one. */
async function addGiftCard(runtime: Runtime, demo: Demo): Promise<Demo> {
  if (demo.gift_card !== undefined) return demo
  const gift_card = await issueDemoGiftCard(runtime, demo.tenant_ref)
  if (gift_card === null) return demo
  const complete = { ...demo, gift_card }
  await writeDemo(runtime.config, complete)
  return complete
}

/** Creates the parts of the demo that do not exist yet, and returns a merchant key. */
async function createDemo(runtime: Runtime, owner: Demo['owner']): Promise<string> {
  const { database } = runtime
  // The address is not real, so it cannot be verified.
  const owners = {
    ...(await openIdentity(runtime)),
    verification: 'off' as const,
  }
  await ignoreExisting(
    'email_exists',
    identity.signUp(owners, 'demo', { ...owner, name: 'Demo Owner' }),
  )
  const store = { tenant_ref: DEMO_REF, display_name: 'Harbour & Hearth', owner_email: owner.email }
  await ignoreExisting('tenant_exists', stores.create(database, SYSTEM, store))
  await publishSite(runtime)
  const issuer = { actor: SYSTEM, scopes: SCOPES }
  const terms = { label: 'Demo key', scopes: [...SCOPES] }
  const { credential } = await credentials.issue(database.tenant(DEMO_REF), issuer, terms)
  return credential.key
}

async function publishSite({ database }: Runtime): Promise<void> {
  const db = database.tenant(DEMO_REF)
  if ((await stores.get(db)).status === 'live') return
  const value = harbourSite(NO_PARTS)
  const manifest = { value, text: JSON.stringify(value) }
  // The scanner runs in a thread that ends here, so that its word lists do not stay in memory because of one page.
  const scanner = createScanner({ inlineCharacters: 0 })
  await sites.saveActive({ db, actor: SYSTEM, scanner }, manifest).finally(() => scanner.close())
  await stores.setStatus(db, SYSTEM, { status: 'live', reason: 'the demo store' })
}
