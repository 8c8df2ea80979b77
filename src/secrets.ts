import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'

const NAMES = ['OPERATOR_TOKEN', 'STOREFRONT_TOKEN', 'SECRET_KEY'] as const

export type Secrets = Record<(typeof NAMES)[number], string>

/** Loads the three secrets: from the environment, or else from the file that the first start created in `DATA_DIR`. */
export async function loadSecrets(config: Config): Promise<Secrets> {
  return (
    fromEnvironment(config) ??
    withOverrides(config, await readOrCreate(pathOf(config), config.DATA_DIR))
  )
}

/** Reads the secrets like `loadSecrets`, without creating or changing anything. Returns null where they are missing. */
export async function findSecrets(config: Config): Promise<Secrets | null> {
  const overrides = fromEnvironment(config)
  if (overrides !== null) return overrides
  const stored = await read(pathOf(config)).catch(() => null)
  return stored === null ? null : withOverrides(config, stored)
}

const pathOf = ({ DATA_DIR }: Config) => join(DATA_DIR, 'secrets.json')

function fromEnvironment({ OPERATOR_TOKEN, STOREFRONT_TOKEN, SECRET_KEY }: Config): Secrets | null {
  if (!OPERATOR_TOKEN || !STOREFRONT_TOKEN || !SECRET_KEY) return null
  return { OPERATOR_TOKEN, STOREFRONT_TOKEN, SECRET_KEY }
}

const withOverrides = (
  { OPERATOR_TOKEN, STOREFRONT_TOKEN, SECRET_KEY }: Config,
  stored: Secrets,
): Secrets => ({
  OPERATOR_TOKEN: OPERATOR_TOKEN ?? stored.OPERATOR_TOKEN,
  STOREFRONT_TOKEN: STOREFRONT_TOKEN ?? stored.STOREFRONT_TOKEN,
  SECRET_KEY: SECRET_KEY ?? stored.SECRET_KEY,
})

async function readOrCreate(path: string, folder: string): Promise<Secrets> {
  const found = await read(path)
  if (found !== null) {
    await chmod(path, 0o600)
    return found
  }
  // Other users may reach the files below the folder, since the embedded server may run as another user, but may not
  // list it.
  await mkdir(folder, { recursive: true, mode: 0o711 })
  const token = () => randomBytes(32).toString('base64url')
  const created = { OPERATOR_TOKEN: token(), STOREFRONT_TOKEN: token(), SECRET_KEY: token() }
  // The file is written under a temporary name and linked: of two simultaneous first starts one wins, and no reader
  // sees half a file.
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, `${JSON.stringify(created, null, 2)}\n`, { mode: 0o600 })
  await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(temporary)
  const stored = await read(path)
  if (stored === null)
    throw new Error(`${path} disappeared while it was being created; start again`)
  return stored
}

async function read(path: string): Promise<Secrets | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const secrets = parse(text)
  if (secrets === null) {
    throw new Error(
      `${path} does not contain the three secrets; restore it from the backup, it cannot be created again`,
    )
  }
  return secrets
}

/**
 * Parses the file. Returns null unless it has the three secrets. The message gives no detail, since that would quote
 * them.
 */
function parse(text: string): Secrets | null {
  try {
    const secrets = JSON.parse(text) as Secrets
    return NAMES.every((name) => typeof secrets[name] === 'string' && secrets[name].length >= 32)
      ? secrets
      : null
  } catch {
    return null
  }
}
