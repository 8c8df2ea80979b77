import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const runner = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url))

async function folder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'run-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  return dir
}

async function program(t: TestContext, source: string): Promise<string> {
  const file = join(await folder(t), 'program.ts')
  await writeFile(file, source)
  return file
}

interface Options {
  flags?: string[]
  env?: NodeJS.ProcessEnv
}

function launch(script: string, args: string[], { flags = [], env = process.env }: Options = {}) {
  return spawn(process.execPath, [...flags, script, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function outcome(child: ChildProcess) {
  const { stdout, stderr } = child
  assert.ok(stdout && stderr)
  const [[code, signal], out, err] = await Promise.all([
    once(child, 'close'),
    text(stdout),
    text(stderr),
  ])
  return { code, signal, out, err }
}

/** A copy of what a fresh clone has, in which nothing is installed. */
async function bareClone(t: TestContext): Promise<string> {
  const dir = await folder(t)
  await mkdir(join(dir, 'scripts'))
  await cp(runner, join(dir, 'scripts', 'run.mjs'))
  await cp(join(root, 'package.json'), join(dir, 'package.json'))
  await cp(join(root, 'package-lock.json'), join(dir, 'package-lock.json'))
  return dir
}

/** A folder to stand for the whole PATH, with an `npm` that says and does as told. */
async function pathWithNpm(t: TestContext, script: string): Promise<NodeJS.ProcessEnv> {
  const dir = await folder(t)
  await writeFile(join(dir, 'npm'), `#!/bin/sh\n${script}\n`)
  await chmod(join(dir, 'npm'), 0o755)
  return { PATH: `${dir}:/usr/bin:/bin`, HOME: dir }
}

test('runs the file with the pinned Node, its arguments and its exit code', async (t) => {
  const file = await program(
    t,
    `const shown: string[] = [process.version, ...process.argv.slice(2)]
     console.log(shown.join(' '))
     process.exit(7)`,
  )
  const { version } = JSON.parse(
    await readFile(join(root, 'node_modules', 'node', 'package.json'), 'utf8'),
  )
  const { code, out, err } = await outcome(launch(runner, [file, 'one', '--two']))
  assert.equal(out, `v${version} one --two\n`)
  assert.equal(err, '')
  assert.equal(code, 7)
})

test('takes under 50 ms of its own when there is nothing to do, or less than a start of Node', async (t) => {
  const file = await program(t, `console.log(Date.now())`)
  const stamp = 'data:text/javascript,process.stderr.write(String(Date.now()))'
  let best = Number.POSITIVE_INFINITY
  let fastestNode = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round += 1) {
    const { out, err } = await outcome(launch(runner, [file], { flags: ['--import', stamp] }))
    const bare = performance.now()
    await outcome(launch(file, []))
    const startOfNode = performance.now() - bare
    best = Math.min(best, Number(out) - Number(err) - startOfNode)
    fastestNode = Math.min(fastestNode, startOfNode)
  }
  const most = Math.max(50, fastestNode)
  assert.ok(best < most, `took ${Math.round(best)} ms of ${Math.round(most)} ms`)
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`hands ${signal} to the program and waits for its answer`, async (t) => {
    const file = await program(
      t,
      `process.once('${signal}', () => setTimeout(() => process.exit(9), 50))
       setInterval(() => {}, 60_000)
       console.log('ready')`,
    )
    const child = launch(runner, [file])
    child.stdout.once('data', () => child.kill(signal))
    assert.equal((await outcome(child)).code, 9)
  })
}

test('every npm script is the process that npm sends its signals to', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  for (const [name, command] of Object.entries<string>(scripts)) {
    // Without `exec` a shell stands between the two, and dies without handing the signal on.
    assert.match(command, /^exec node scripts\/run\.mjs [^&|;]+$/, name)
  }
})

test('dies of the signal its program died of', async (t) => {
  const file = await program(t, `process.kill(process.pid, 'SIGKILL')`)
  assert.equal((await outcome(launch(runner, [file]))).signal, 'SIGKILL')
})

test('refuses a Node that is too old in one line', async () => {
  const older = `Object.defineProperty(process.versions, 'node', { value: '18.20.8' })`
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(older)}`]
  const { code, err } = await outcome(launch(runner, ['src/main.ts'], { flags }))
  assert.equal(err, 'fairdock: Node 20 or newer is required, this is 18.20.8.\n')
  assert.equal(code, 1)
})

test('refuses Windows in one line', async () => {
  const windows = `Object.defineProperty(process, 'platform', { value: 'win32' })`
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(windows)}`]
  const { code, err } = await outcome(launch(runner, ['src/main.ts'], { flags }))
  assert.match(err, /^fairdock: Windows is not supported[^\n]*\n$/)
  assert.equal(code, 1)
})

const troubles = [
  ['there is no npm', null, /npm is not on the PATH/],
  [
    'there is no network',
    'echo "npm error code EAI_AGAIN" >&2; exit 1',
    /registry cannot be reached/,
  ],
  ['the disk is full', 'echo "npm error code ENOSPC" >&2; exit 1', /the disk is full/],
  ['the folder is read-only', 'echo "npm error code EROFS" >&2; exit 1', /cannot be written/],
] as const

for (const [name, script, expected] of troubles) {
  test(`says in one line that ${name}`, async (t) => {
    const dir = await bareClone(t)
    const env = script ? await pathWithNpm(t, script) : { PATH: dir }
    const child = launch(join(dir, 'scripts', 'run.mjs'), ['src/main.ts'], { env })
    const { code, err } = await outcome(child)
    const [, complaint, ...rest] = err.split('\n')
    assert.match(complaint ?? '', expected)
    assert.deepEqual(rest, [''])
    assert.equal(code, 1)
  })
}

test('shows the last lines of npm when it fails for a reason of its own', async (t) => {
  const dir = await bareClone(t)
  const env = await pathWithNpm(t, 'echo noise; echo "npm error something odd" >&2; exit 3')
  const { code, err } = await outcome(launch(join(dir, 'scripts', 'run.mjs'), ['x.ts'], { env }))
  assert.match(err, /npm error something odd\n.*npm failed, see above\.\n$/)
  assert.equal(code, 1)
})

test('installs once when two runs start together, and takes over a dead lock', async (t) => {
  const dir = await bareClone(t)
  await writeFile(join(dir, '.install.lock'), '999999999')
  await writeFile(join(dir, 'ok.ts'), `console.log('ran')`)
  await symlink(join(root, 'node_modules'), join(dir, 'installed'))
  const env = await pathWithNpm(t, 'echo run >> npm-runs; sleep 0.3; mv installed node_modules')
  const script = join(dir, 'scripts', 'run.mjs')
  const runs = await Promise.all([1, 2].map(() => outcome(launch(script, ['ok.ts'], { env }))))
  for (const { code, out, err } of runs) assert.deepEqual([code, out], [0, 'ran\n'], err)
  assert.equal(await readFile(join(dir, 'npm-runs'), 'utf8'), 'run\n')
  await assert.rejects(readFile(join(dir, '.install.lock')), { code: 'ENOENT' })
})
