// Measures Graphile Worker or pg-boss: node peer.mjs PEER CONNECTION MODE COUNT [THREADS]
// Prints "ready" when everything is stored, waits for a line on standard input, and prints the result as JSON.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const TASK = 'job';
const TEXT = 'a payload of about a hundred bytes, as an order or a mail address would be';
const CHUNK = 5000;
const [name, connectionString, mode, countText, threadsText] = process.argv.slice(2);
const count = Number(countText);

/** Each peer stores jobs, starts a worker that calls a function for each payload, and counts the jobs left. */
const peers = {
  async 'graphile-worker'() {
    const { Logger, makeWorkerUtils, run } = await import('graphile-worker');
    const { default: pg } = await import('pg');
    const preset = {
      worker: {
        connectionString,
        maxPoolSize: 10,
        concurrentJobs: 24,
        pollInterval: 100,
        completeJobBatchDelay: 0,
        ...(mode === 'pickup' ? {} : { localQueue: { size: 500 } }),
      },
    };
    const logger = new Logger(() => () => {});
    const utils = await makeWorkerUtils({ connectionString, logger });
    await utils.migrate();
    const pool = new pg.Pool({ connectionString, max: 2 });
    return {
      store: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: TASK, payload }))),
      storeOne: (payload) => utils.addJob(TASK, payload),
      work: (handle) =>
        run({ preset, logger, noHandleSignals: true, taskList: { [TASK]: async (payload) => handle(payload) } }),
      left: async () => (await pool.query('SELECT count(*)::int AS jobs FROM graphile_worker._private_jobs')).rows[0].jobs,
    };
  },
  async 'pg-boss'() {
    const { PgBoss } = await import('pg-boss');
    const { default: pg } = await import('pg');
    const boss = new PgBoss({ connectionString, max: 10 });
    boss.on('error', (failure) => {
      throw failure;
    });
    await boss.start();
    await boss.createQueue(TASK);
    const pool = new pg.Pool({ connectionString, max: 2 });
    const options = { batchSize: 500, localConcurrency: 2, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
    return {
      store: (payloads) => boss.insert(TASK, payloads.map((data) => ({ data }))),
      storeOne: (payload) => boss.send(TASK, payload),
      work: (handle) => boss.work(TASK, options, async (jobs) => jobs.forEach((job) => handle(job.data))),
      left: async () =>
        (await pool.query("SELECT count(*)::int AS jobs FROM pgboss.job WHERE state < 'completed'")).rows[0].jobs,
    };
  },
};

const seconds = () => Number(process.hrtime.bigint()) / 1e9;
const payloads = (from, to) => Array.from({ length: to - from }, (_, i) => ({ number: from + i, text: TEXT }));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function storeAll(peer) {
  for (let from = 0; from < count; from += CHUNK) await peer.store(payloads(from, Math.min(count, from + CHUNK)));
}

async function untilTold() {
  console.log('ready');
  const lines = createInterface({ input: process.stdin });
  await once(lines, 'line');
  lines.close();
}

/** Drains stored jobs, from the first start until no job is left in the database. */
async function drain(peer) {
  await storeAll(peer);
  await untilTold();
  const seen = new Uint8Array(count);
  let first = 0;
  let handled = 0;
  let duplicates = 0;
  const cpu = process.cpuUsage();
  await peer.work(({ number }) => {
    if (first === 0) first = seconds();
    if (seen[number]++ === 0) handled++;
    else duplicates++;
  });
  while (handled < count || (await peer.left()) > 0) await pause(2);
  const used = process.cpuUsage(cpu);
  return { seconds: seconds() - first, missing: count - handled, duplicates, cpu: (used.user + used.system) / 1e6 };
}

async function bulk(peer) {
  await untilTold();
  const start = seconds();
  await storeAll(peer);
  return { perSecond: count / (seconds() - start) };
}

/** Stores jobs one by one, with so many calls at a time. */
async function single(peer) {
  await untilTold();
  const start = seconds();
  let next = 0;
  await Promise.all(
    Array.from({ length: Number(threadsText) }, async () => {
      while (next < count) await peer.storeOne(payloads(next, ++next)[0]);
    }),
  );
  return { perSecond: count / (seconds() - start) };
}

/** Milliseconds from the return of an enqueue in another process until the start of the job. */
async function pickup(peer) {
  const started = new Map();
  await peer.work(({ number }) => started.get(number)(seconds()));
  const enqueuer = fork(process.argv[1], [name, connectionString, 'enqueuer', '0']);
  await once(enqueuer, 'message');
  await untilTold();
  const millis = [];
  for (let number = 0; number < count; number++) {
    const start = new Promise((resolve) => started.set(number, resolve));
    enqueuer.send(number);
    const [returned] = await once(enqueuer, 'message');
    millis.push(((await start) - returned) * 1000);
    await pause(10 + Math.random() * 40);
  }
  enqueuer.kill();
  return { millis };
}

async function enqueuer(peer) {
  process.on('message', async (number) => {
    await peer.storeOne({ number, text: TEXT });
    process.send(seconds());
  });
  process.send(0);
  await new Promise(() => {});
}

const result = await { drain, bulk, single, pickup, enqueuer }[mode](await peers[name]());
console.log(JSON.stringify(result));
process.exit(0);
