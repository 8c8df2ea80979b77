import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { emptyFolder, postmasterPid } from './harness/embedded.ts'
import { until } from './harness/eventually.ts'
import { installedFolder } from './harness/installed-folder.ts'
import { startProcess, type TestProcess } from './harness/process.ts'

describe('npm start', () => {
  const RUN = ['node', 'scripts/run.mjs', 'src/main.ts', 'serve']

  /** Ctrl-C and the tests of `scripts/run.mjs` send these, too. */
  const MORE = [
    [['npm', 'start'], 'SIGINT', 0, {}],
    [RUN, 'SIGHUP', 0, {}],
  ] as const

  /** That the server and its database have ended, soon after the signal even on a busy machine. */
  async function stops(serving: TestProcess, dataDir: string) {
    const within = sleep(60_000, null, { ref: false })
    const exit = await Promise.race([serving.exit, within])
    assert.ok(exit, `still running: ${serving.output()}`)
    await assert.rejects(postmasterPid(dataDir), { code: 'ENOENT' })
    assert.deepEqual(await listProcesses(dataDir), [])
    return exit
  }

  /** The command lines of all processes that were started with that folder, their parents gone or not. */
  async function listProcesses(dataDir: string): Promise<string[]> {
    if (process.platform !== 'linux') return []
    const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const found = await Promise.all(
      ids.map(async (id) => {
        const read = (name: string) => readFile(`/proc/${id}/${name}`, 'utf8').catch(() => '')
        const [environ, cmdline] = await Promise.all([read('environ'), read('cmdline')])
        const isOurs = environ.split('\0').includes(`DATA_DIR=${dataDir}`)
        return isOurs || cmdline.includes(dataDir) ? [cmdline.replaceAll('\0', ' ')] : []
      }),
    )
    return found.flat()
  }

  /** What Ctrl-C does: the terminal sends the signal to every process of the group. */
  const interrupt = ({ child }: TestProcess) => {
    assert.ok(child.pid)
    process.kill(-child.pid, 'SIGINT')
  }

  /** All signals to all processes: a drill of `npm run torture`. */
  const isLong = process.env.LONG === '1'

  test('ends with its server and its database when any of its processes gets a signal', async (t) => {
    const dataDir = await installedFolder(t)
    // In development the first of them has another process, which fills the demo stores.
    const first = { NODE_ENV: 'development' }
    for (const [command, signal, code, env] of [
      [['npm', 'start'], 'SIGTERM', 0, first],
      [['npm', 'start'], 'SIGKILL', null, {}],
      [RUN, 'SIGKILL', null, {}],
      ...(isLong ? MORE : []),
    ] as const) {
      const serving = await startProcess(t, { dataDir, command, env })
      if (env === first)
        await until('it fills them', () => /Filling the demo/.test(serving.output()))
      else await serving.ready()
      serving.kill(signal)
      const exit = await stops(serving, dataDir)
      assert.equal(exit.code, code, `${signal} to ${command.join(' ')}: ${serving.output()}`)
    }
  })

  test('ends cleanly when Ctrl-C is pressed twice, and starts again at once', async (t) => {
    const dataDir = await installedFolder(t)
    for (const command of [
      ['npm', 'start'],
      ['sh', '-c', 'npm start && true'],
    ]) {
      const serving = await startProcess(t, { dataDir, command })
      await serving.ready()
      assert.notDeepEqual(await listProcesses(dataDir), [])
      interrupt(serving)
      await sleep(50)
      // The first of them may have ended everything already.
      if (serving.child.exitCode === null && serving.child.signalCode === null) interrupt(serving)
      await stops(serving, dataDir)
      // The database has the signal too, and may end a connection first, which is a warning.
      assert.doesNotMatch(serving.output(), /"level":[56]0/)
    }
  })

  test('ends in the middle of its first start, and leaves no database running', async (t) => {
    const isMaking = async (dir: string) =>
      (await readdir(dir)).some((name) => name.startsWith('postgres.new-'))
    const isMigrating = (_: string, { output }: TestProcess) => output().includes('listening at')
    for (const isThere of [isMaking, isMigrating]) {
      const dataDir = await emptyFolder(t)
      const serving = await startProcess(t, { dataDir, env: { LOG_LEVEL: 'info' }, command: RUN })
      await until('it has come that far', () => isThere(dataDir, serving))
      serving.kill('SIGTERM')
      assert.equal((await stops(serving, dataDir)).code, 0, serving.output())
      assert.doesNotMatch(serving.output(), /ready at/)
    }
  })
})
