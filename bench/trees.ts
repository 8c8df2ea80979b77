import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The source of one commit, with what it needs to run. */
export interface Tree {
  name: string
  dir: string
  /** Where a file of it is, to be imported or started. */
  file(path: string): URL
  close(): Promise<void>
}

const treeAt = (dir: string, name: string, close: () => Promise<void>): Tree => ({
  name,
  dir,
  file: (path) => pathToFileURL(join(dir, path)),
  close,
})

/** The files as they are here, committed or not. */
export const THIS_TREE = treeAt(ROOT, 'here', async () => {})

/**
 * The files of a commit in a folder of their own. They share the installed packages if both name the
 * same; otherwise its own are installed there.
 */
export async function openTree(commit: string): Promise<Tree> {
  const id = (await run('git', ['rev-parse', '--verify', `${commit}^{commit}`], ROOT)).trim()
  const dir = await mkdtemp(join(tmpdir(), 'bench-tree-'))
  // Root starts the database as another user, who must be able to pass through this folder.
  await chmod(dir, 0o755)
  const close = () => rm(dir, { recursive: true, force: true, maxRetries: 20 })
  try {
    await run('sh', ['-c', 'git archive "$0" | tar -x -C "$1"', id, dir], ROOT)
    const [theirs, ours] = [dir, ROOT].map(installedBy)
    if (theirs === ours) await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
    else await install(dir)
    return treeAt(dir, id.slice(0, 7), close)
  } catch (error) {
    await close()
    throw error
  }
}

/** The packages that a lock file names, without the project itself and the ranges it asks for. */
function installedBy(dir: string): string {
  const { packages } = JSON.parse(readFileSync(join(dir, 'package-lock.json'), 'utf8'))
  return JSON.stringify({ ...packages, '': null })
}

/** Installs the packages of a tree, which its runner does before it runs any file. */
async function install(dir: string): Promise<void> {
  await writeFile(join(dir, 'nothing.ts'), '')
  await run('node', ['scripts/run.mjs', 'nothing.ts'], dir)
}

/** Runs a command and returns its output. It fails with all that the command has written. */
export function run(file: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    const said = { out: '', err: '' }
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said.out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said.err += text
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(said.out)
      else
        reject(new Error(`${file} ${args.join(' ')} ended with ${code}:\n${said.out}${said.err}`))
    })
  })
}
