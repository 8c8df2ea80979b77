import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'

const NAMES = ['OPERATOR_TOKEN', 'STOREFRONT_TOKEN', 'SECRET_KEY'] as const

export type Secrets = Record<(typeof NAMES)[number], string>

/** The three secrets: from the environment, else the ones made at the first start in `DATA_DIR`. */
export async function loadSecrets(config: Config): Promise<Secrets> {
  return fromEnvironment(config) ?? over(config, await readOrMake(pathOf(config), config.DATA_DIR))
}

/** The same for whoever only looks: null where they are not to be had. Nothing is made or mended. */
export async function findSecrets(config: Config): Promise<Secrets | null> {
  const given = fromEnvironment(config)
  if (given !== null) return given
  const kept = await read(pathOf(config)).catch(() => null)
  return kept === null ? null : over(config, kept)
}

const pathOf = ({ DATA_DIR }: Config) => join(DATA_DIR, 'secrets.json')

function fromEnvironment({ OPERATOR_TOKEN, STOREFRONT_TOKEN, SECRET_KEY }: Config): Secrets | null {
  if (!OPERATOR_TOKEN || !STOREFRONT_TOKEN || !SECRET_KEY) return null
  return { OPERATOR_TOKEN, STOREFRONT_TOKEN, SECRET_KEY }
}

const over = (
  { OPERATOR_TOKEN, STOREFRONT_TOKEN, SECRET_KEY }: Config,
  kept: Secrets,
): Secrets => ({
  OPERATOR_TOKEN: OPERATOR_TOKEN ?? kept.OPERATOR_TOKEN,
  STOREFRONT_TOKEN: STOREFRONT_TOKEN ?? kept.STOREFRONT_TOKEN,
  SECRET_KEY: SECRET_KEY ?? kept.SECRET_KEY,
})

async function readOrMake(path: string, folder: string): Promise<Secrets> {
  const found = await read(path)
  if (found !== null) {
    await chmod(path, 0o600)
    return found
  }
  // Others may pass through, since the embedded server may run as another user, but not look around.
  await mkdir(folder, { recursive: true, mode: 0o711 })
  const token = () => randomBytes(32).toString('base64url')
  const made = { OPERATOR_TOKEN: token(), STOREFRONT_TOKEN: token(), SECRET_KEY: token() }
  // Written aside and linked into place: of two first starts one wins, and nobody reads half a file.
  const aside = `${path}.${process.pid}`
  await writeFile(aside, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 })
  await link(aside, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(aside)
  const kept = await read(path)
  if (kept === null) throw new Error(`${path} disappeared while it was being created; start again`)
  return kept
}

async function read(path: string): Promise<Secrets | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const kept = parse(text)
  if (kept === null) {
    throw new Error(
      `${path} does not contain the three secrets; restore it from the backup, it cannot be created again`,
    )
  }
  return kept
}

/** Null for anything else than the three. What is wrong with it is not told: it would quote them. */
function parse(text: string): Secrets | null {
  try {
    const kept = JSON.parse(text) as Secrets
    return NAMES.every((name) => typeof kept[name] === 'string' && kept[name].length >= 32)
      ? kept
      : null
  } catch {
    return null
  }
}
