package io.carillon.it.docs;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.BulkActions;
import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.Health;
import io.carillon.NodeConfig;
import io.carillon.NodeInfo;
import io.carillon.NodeStatus;
import io.carillon.PauseOptions;
import io.carillon.Project;
import io.carillon.QueueLimits;
import io.carillon.Stats;
import io.carillon.Stats.RunStats;
import io.carillon.Wakeup;
import io.carillon.micrometer.CarillonMeters;
import io.carillon.opentelemetry.CarillonTraces;
import io.carillon.run.Enqueue;
import io.carillon.run.Enqueue.OnFailure;
import io.carillon.run.Explanation;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.CronExpression;
import io.carillon.schedule.DroppedHistoryPolicy;
import io.carillon.schedule.DstPolicy;
import io.carillon.schedule.DstPolicy.Gap;
import io.carillon.schedule.DstPolicy.Repeat;
import io.carillon.schedule.Interval;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.Preview;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.server.CarillonServer;
import io.carillon.server.access.JwkSet;
import io.carillon.server.access.JwtVerifier;
import io.carillon.spi.AuthorizationPropagator;
import io.carillon.spi.ExecuteResult;
import io.carillon.spi.Keyring;
import io.carillon.spi.MessageEndpoint;
import io.carillon.spi.MessageQueue;
import io.carillon.spi.RunEvent;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.WakeTransport;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.crypto.SecretKey;
import javax.sql.DataSource;

/** Every Java line of the user pages, compiled. {@link SnippetsTest} compares the pages with this file. */
@SuppressWarnings("unused")
final class Snippets {
    // spotless:off
    record Reminder(UUID order, String to) {}
    record Report(String region) {}
    record Invoice(int number) {}
    record Charge(long amount) {}
    record Batch(List<String> files) {}

    static final HandlerType<Reminder> REMIND = HandlerType.of("reminder.send", Reminder.class);
    static final HandlerType<Report> REPORT = HandlerType.of("report", Report.class);
    static final HandlerType<Invoice> INVOICE = HandlerType.of("invoice", Invoice.class);
    static final HandlerType<Charge> CHARGE = HandlerType.of("charge", Charge.class);
    static final HandlerType<Batch> IMPORT = HandlerType.of("import", Batch.class);
static final HandlerType<Reminder> REMIND_V2 = HandlerType.of("reminder.send.v2", Reminder.class)
    .accepting("reminder.send", json -> readOldReminder(json));

    private static Reminder readOldReminder(String json) {
        return new Reminder(new UUID(0, 0), json);
    }

    static final class InvalidAddress extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    interface Mail { void send(String to); }
    interface Books { void post(Connection connection, Invoice invoice); }
    interface Store { void importFile(String file, String idempotencyKey); }
    interface Bank { boolean closed(); String charge(Charge charge); }

    private Snippets() {}

    static final class Reminders {
        public static void main(String[] args) throws InterruptedException {
HikariDataSource pool = new HikariDataSource();
pool.setJdbcUrl(System.getenv("DATABASE_URL"));

Carillon carillon = Carillon.on(pool)
    .handle(REMIND, (reminder, run) -> System.out.println("Reminder for " + reminder.to()))
    .handle(REPORT, (report, run) -> System.out.println("Report for " + report.region()))
    .schedule("nightly-report", When.cron("0 2 * * *", "Europe/Paris"), REPORT, new Report("eu"))
    .start();
Runtime.getRuntime().addShutdownHook(new Thread(carillon::close));

UUID order = UUID.randomUUID();
Reminder reminder = new Reminder(order, "ann@example.com");
carillon.enqueue(REMIND, reminder, Enqueue.after(Duration.ofSeconds(10)).uniqueKey("remind:" + order));
Thread.currentThread().join();
        }
    }

    static void readme(Carillon carillon, Connection connection, Reminder reminder) {
carillon.in(connection).enqueue(REMIND, reminder);   // stored if and only if your transaction commits
    }

    static void guarantees(DataSource dataSource, Books books) {
Carillon.on(dataSource)
    .handleInTransaction(INVOICE, (invoice, run, connection) -> books.post(connection, invoice))
    .start();
    }

    static void handlers(DataSource dataSource, Mail mail, Bank bank) {
Carillon carillon = Carillon.on(dataSource)
    .handle(REMIND, (reminder, run) -> mail.send(reminder.to()),
        HandlerOptions.defaults().queue("mail").timeout(ofMinutes(2))
            .retry(Retry.exponential(ofSeconds(5)).factor(2).cap(ofHours(1)).attempts(8))
            .noRetryOn(InvalidAddress.class))
    .start();
        Carillon.on(dataSource)
.handleReturning(CHARGE, (charge, run) -> {
    if (bank.closed()) return Outcome.snoozed(ofHours(1));        // not a failure; executed again in an hour
    if (charge.amount() < 0) return Outcome.rejected("negative"); // dead, without a retry
    return bank.charge(charge);                                   // stored as the run's result
})
.schedule("nightly-report", When.cron("0 2 * * *", "Europe/Paris"), REPORT, new Report("eu"))
            .build();
    }

    static void retries(Carillon carillon, Reminder reminder, RunId id) {
carillon.enqueue(REMIND, reminder,
    Enqueue.now().retry(Retry.exponential(ofSeconds(5)).attempts(3)).timeout(ofSeconds(30)));
carillon.schedules().upsert("sync", When.every(ofMinutes(5)), REPORT, new Report("eu"),
    ScheduleOptions.defaults()
        .retry(Retry.exponential(ofSeconds(10)).cap(ofMinutes(1)).jitter(0.1))
        .timeout(ofMinutes(2)));
Run waiting = carillon.runs().get(id).orElseThrow();
show(waiting.failures(), waiting.details().lastError(), waiting.instants().readyAt());
    }

    static void statistics(Carillon carillon) {
RunStats stats = carillon.stats(RunStats.query()
        .last(Duration.ofHours(3))
        .step(Duration.ofMinutes(5))
        .by(RunStats.Grouping.QUEUE));
stats.total().failureRate();                        // dead and quarantined among those and the succeeded
stats.total().waitTime().p95();                     // from due to start
stats.points().forEach(point -> point.figures().perSecond());
    }

    private static void show(Object... values) {
        for (Object value : values) System.out.println(value);
    }

    static void contexts(DataSource dataSource, Store store) {
        Carillon.on(dataSource)
.handle(IMPORT, (batch, run) -> {
    run.log("import of " + batch.files().size() + " files, attempt " + run.attempt());
    for (int i = 0; i < batch.files().size(); i++) {
        if (run.isStopRequested()) return;              // cancelled, timed out, or released to another node
        store.importFile(batch.files().get(i), run.idempotencyKey());
        run.reportProgress(i + 1, batch.files().size());
    }
})
            .build();
    }

    static void results(Carillon carillon, RunId run) {
Optional<String> receipt = carillon.runs().result(run, String.class);   // empty unless the run succeeded with a result
    }

    static void runs(
            Carillon carillon, Reminder reminder, List<Reminder> reminders, UUID order, Connection connection) {
carillon.enqueue(REMIND, reminder);
carillon.enqueue(REMIND, reminder, Enqueue.after(ofHours(24)).uniqueKey("remind:" + order));
carillon.enqueue(REMIND, reminder, Enqueue.now().uniqueKey("remind:" + order, ofHours(1))); // keeps the key for an hour
carillon.enqueueAll(REMIND, reminders);
carillon.in(connection).enqueue(REMIND, reminder);   // in your transaction; visible when it commits
carillon.enqueue(REMIND, reminder, Enqueue.now().concurrencyKey(reminder.to()));           // one at a time
carillon.enqueue(REMIND, reminder, Enqueue.now().concurrencyKey(reminder.to(), 5));        // five at a time
carillon.enqueue(REMIND, reminder, Enqueue.now().fifoKey("order:" + order));               // in order, one by one
carillon.enqueue(REMIND, reminder, Enqueue.now().rateKey(reminder.to(), 5, ofSeconds(1))); // five starts in any second
    }

    static void chains(Carillon carillon, Reminder reminder, RunId other) {
RunId first = carillon.enqueue(REMIND, reminder).run();
carillon.enqueue(REMIND, reminder, Enqueue.afterRun(first));                                    // when it has succeeded
carillon.enqueue(REMIND, reminder, Enqueue.afterRun(first).onFailure(OnFailure.RUN_ANYWAY));    // when it has ended
carillon.enqueue(REMIND, reminder, Enqueue.afterAll(List.of(first, other)).onFailure(OnFailure.WAIT));
    }

    interface Alarm { void raise(String what, long count); }

    static void listeners(DataSource dataSource, Alarm alarm) {
Carillon.on(dataSource)
    .scheduleListener(event -> {
        if (event instanceof ScheduleEvent.Missed missed) alarm.raise(missed.schedule(), missed.instants().count());
    })
    .listener(event -> {
        if (event instanceof RunEvent.Dead dead) alarm.raise(dead.run().target().name(), 1);
    })
    .start();
    }

    static void bulk(Carillon carillon, Instant tomorrow, AtomicBoolean enough) {
BulkActions late = carillon.runs().bulk(RunFilter.all().queue("mail").state(RunState.WAITING));
BulkActions.Count count = late.countFirst(10_000);  // changes nothing; reads at most 10,000 runs of the queue
late.reschedule(tomorrow);
late.continueWhile(done -> !enough.get()).cancel(); // the condition is tested after each chunk
BulkActions dead = carillon.runs().bulk(RunFilter.all().handler("reminder.send").state(RunState.DEAD));
dead.redrive();
dead.delete();
    }

    static void projects(Carillon carillon, Reminder reminder, Connection connection, RunId run) {
Project acme = carillon.project("acme");
acme.enqueue(REMIND, reminder);
acme.schedules().pause("nightly-report", PauseOptions.untilResumed().reason("their holiday"));
carillon.in(connection).schedules().delete("nightly-report");
acme.in(connection).runs().cancel(run);
    }

    static void rest(DataSource dataSource) {
Carillon carillon = Carillon.on(dataSource).start();
CarillonServer server = CarillonServer.on(carillon, dataSource).listen("127.0.0.1", 8080).start();
server.bootstrapKey().ifPresent(System.out::println);
    }

    static void tokens(Carillon carillon, DataSource dataSource) {
JwkSet keys = JwkSet.fromUri(URI.create("https://id.example/.well-known/jwks.json"));
CarillonServer.on(carillon, dataSource)
    .tokenVerifier(JwtVerifier.withPublicKeys("https://id.example", "carillon", keys))
    .start();
    }

    static void limits(Carillon carillon) {
carillon.queues().limit("mail", QueueLimits.maxRunning(10));                            // ten at a time on all nodes
carillon.queues().limit("mail", QueueLimits.rate(600, ofMinutes(1)));                   // ten starts per second
carillon.queues().limit("mail", QueueLimits.maxRunning(10).andRate(600, ofMinutes(1))); // both
carillon.queues().limit("mail", QueueLimits.none());
carillon.queues().weight("mail", 3);   // three times the share of a queue without a weight
carillon.queues().breaker("partner", true);   // all runs of the queue call the same system
    }

    static void queuePauses(Carillon carillon) {
carillon.queues().pause("mail", PauseOptions.untilResumed().by("ann").reason("the mail server moves"));
carillon.queues().resume("mail");
    }

    static void overlaps(Carillon carillon) {
carillon.schedules().upsert("sync", When.every(ofMinutes(5)), REPORT, new Report("eu"),
    ScheduleOptions.defaults().overlap(OverlapPolicy.SKIP));
    }

    static void adaptive(Carillon carillon) {
carillon.schedules().upsert("sweep", When.adaptive(ofSeconds(30), ofMinutes(10)), REPORT, new Report("eu"));
    }

    static void cron(Instant after, ZoneId zone) {
CronExpression cron = CronExpression.parse("0 9 * * MON-FRI");
Optional<Instant> next = cron.next(after, ZoneId.of("Europe/Paris"));    // strictly after; empty: never
String english = cron.describe();                                        // At 09:00 on Monday to Friday
cron.next(after, zone, new DstPolicy(Gap.SKIP, Repeat.SECOND));
Preview preview = Preview.of(cron, zone, DstPolicy.defaults(), after, 10);
    }

    static void intervals(Instant after) {
ZonedDateTime start = ZonedDateTime.of(2026, 1, 31, 9, 0, 0, 0, ZoneId.of("Europe/Paris"));
Interval monthly = Interval.every(1, ChronoUnit.MONTHS, start);
Instant next = monthly.next(after);
    }

    static void missed(Carillon carillon, Instant start, Instant end) {
carillon.schedules().upsert("rates", When.cron("*/5 * * * *", "UTC"), REPORT, new Report("eu"),
    ScheduleOptions.defaults().missed(MissedPolicy.RUN_ALL).missedCap(20).missedSpread(ofSeconds(10))
        .grace(ofMinutes(1)).catchUp(ofHours(6)));
When workdays = When.cron("0 6 * * MON-FRI", "Europe/Paris")
    .from(start).until(end)                                 // both inclusive
    .except(LocalDate.of(2026, 12, 25), LocalDate.of(2027, 1, 1))
    .maxRuns(250)
    .jitter(ofMinutes(5));
    }

    static void editing(Carillon carillon, Instant from, Instant to, Instant end) {
carillon.schedules().pause("nightly-report");   // until it is resumed
carillon.schedules().pause("nightly-report", PauseOptions.until(end).by("ann").reason("stocktaking"));
carillon.schedules().resume("nightly-report");
carillon.schedules().upsert("rates", When.cron("*/5 * * * *", "UTC"), REPORT, new Report("eu"),
    ScheduleOptions.defaults().pauseAfter(5));
RunId run = carillon.schedules().trigger("nightly-report");
int runs = carillon.schedules().previewBackfill("nightly-report", from, to);
int made = carillon.schedules().backfill("nightly-report", from, to);
carillon.schedules().backfill("nightly-report", from, to, DroppedHistoryPolicy.RUN);
List<LedgerEntry> lines = carillon.schedules().ledger("nightly-report", from, to);
Optional<Explanation> why = carillon.runs().explain(run);
    }

    static void wakeup(DataSource dataSource, WakeTransport transport, Carillon carillon) {
Carillon.on(dataSource).wakeup(Wakeup.polling()).start();
Carillon.on(dataSource).wakeup(Wakeup.hybrid(transport)).start();
Carillon.on(dataSource).wakeup(Wakeup.named(System.getenv("WAKEUP"), null)).start();   // rejects a missing transport
carillon.wakeup(Wakeup.polling());   // at run time; no data changes
    }

    static void execute(Carillon carillon, RunId run) {
ExecuteResult result = carillon.execute(run);
if (result instanceof ExecuteResult.NotDue later) System.out.println("try again at " + later.readyAt());
    }

    static void consume(DataSource dataSource, WakeTransport transport, MessageQueue queue, Mail mail)
            throws InterruptedException {
Carillon consumer = Carillon.on(dataSource)
        .wakeup(Wakeup.queue(transport).messagePerRun(Keyring.fromEnvironment("MESSAGE_KEYS"), Duration.ofDays(1)))
        .handle(REMIND, (reminder, run) -> mail.send(reminder.to()))
        .build();   // no node
while (running()) consumer.consume(queue, 10, Duration.ofSeconds(5));
    }

    private static boolean running() {
        return !Thread.currentThread().isInterrupted();
    }

    static MessageEndpoint.Response endpoint(Carillon carillon, byte[] body) {
MessageEndpoint endpoint = new MessageEndpoint(carillon::consume);
MessageEndpoint.Response response = endpoint.answer(body);   // one message per line
        return response;
    }

    static void pooler(DataSource throughPooler, DataSource direct) {
Carillon.on(throughPooler).listenDataSource(direct).start();
    }

    static void committed(Carillon carillon, Connection connection, Reminder reminder) throws SQLException {
List<Runnable> afterCommit = new ArrayList<>();
carillon.in(connection, afterCommit::add).enqueue(REMIND, reminder);
connection.commit();
afterCommit.forEach(Runnable::run);
    }

    static void meters(DataSource dataSource, MeterRegistry registry) {
CarillonMeters meters = new CarillonMeters(registry);
Carillon carillon = Carillon.on(dataSource).listener(meters).start();
meters.watch(carillon);
    }

    static void contextPropagators(DataSource dataSource, OpenTelemetry openTelemetry, SecretKey key, Calls calls) {
Carillon traced = Carillon.on(dataSource).contextPropagator(new CarillonTraces(openTelemetry)).start();
AuthorizationPropagator authorizationPropagator =
    new AuthorizationPropagator(key, ofHours(1), () -> calls.currentToken());
Carillon.on(dataSource)
    .contextPropagator(authorizationPropagator)
    .handle(REMIND, (reminder, run) -> calls.asCaller(authorizationPropagator.current().orElseThrow(), reminder))
    .start();
    }

    static void retention(DataSource dataSource) {
Carillon.on(dataSource)
    .config(NodeConfig.defaults().historyRetention(ofDays(90)).deadRunRetention(ofDays(365)))
    .start();
    }

    static void settings(DataSource dataSource) {
Carillon.on(dataSource)
    .config(NodeConfig.defaults().pollInterval(ofSeconds(5)).historyRetention(ofDays(90)))
    .concurrency(100)
    .start();
    }

    static void state(Carillon carillon) {
boolean executing = carillon.isRunning();          // does this process execute runs? never throws, even after close()
Optional<NodeStatus> status = carillon.status();   // what does its node do? empty without a node
List<NodeInfo> nodes = carillon.nodes();           // which nodes are there?
Stats stats = carillon.stats();                    // how much waits, how late is it, how did the last hour go?
Health health = carillon.health();                 // is anything wrong, and what should be done?
    }

    interface Calls { String currentToken(); void asCaller(String token, Reminder reminder); }
    // spotless:on
}
