package io.carillon.it.observability;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.carillon.Carillon;
import io.carillon.NodeConfig;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** The log reports rescued runs and failed rescues. */
@Timeout(60)
class RecoveryLogTest {
    record Job(String name) {}

    private static final HandlerType<Job> JOB = HandlerType.of("job", Job.class);
    private static final String GHOST = "00000000-0000-0000-0000-000000000001";

    private final ApiFixture fixture = new ApiFixture(TestDatabase.migrated());
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final Logger log = (Logger) LoggerFactory.getLogger("io.carillon");

    @BeforeEach
    void listen() {
        lines.start();
        log.addAppender(lines);
    }

    @AfterEach
    void close() {
        log.detachAppender(lines);
        fixture.close();
        fixture.database().close();
    }

    private boolean logged(String pattern) {
        return List.copyOf(lines.list).stream()
                .anyMatch(line -> line.getFormattedMessage().matches(pattern));
    }

    @Test
    void logs_rescued_runs_and_failed_rescues() {
        fixture.database()
                .execute(("INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)"
                                + " VALUES ('%s', 'ghost', 'elsewhere', 1, 'dev', 1, '{job}', 1, 'notify')")
                        .formatted(GHOST));
        RunId id = fixture.client(builder -> builder).enqueue(JOB, new Job("x")).run();
        fixture.database()
                .execute(("UPDATE carillon.run SET owner = '%s', attempt = 1, started_at = carillon.clock(),"
                                + " parked = 'running', ready_at = 'infinity'")
                        .formatted(GHOST));
        fixture.database()
                .execute("INSERT INTO carillon.claim_record (node, claim_number, projects, run_ids)"
                        + " SELECT owner, 1, ARRAY[project], ARRAY[id] FROM carillon.run");
        fixture.database()
                .execute("CREATE FUNCTION public.broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION"
                        + " 'broken page'; END $$;"
                        + " CREATE TRIGGER broken BEFORE INSERT OR UPDATE ON carillon.attempt FOR EACH ROW"
                        + " EXECUTE FUNCTION public.broken()");
        NodeConfig quick = NodeConfig.defaults().heartbeat(Duration.ofMillis(100), Duration.ofMillis(500));
        Carillon node = fixture.node(builder -> builder.config(quick).handle(JOB, (job, run) -> {}));

        eventually().until(() -> logged("run of a dead node cannot be released run=run_(?s).*broken page.*"));
        fixture.database().execute("DROP TRIGGER broken ON carillon.attempt");

        awaitState(node, id, RunState.SUCCEEDED);
        eventually().until(() -> logged("runs rescued nodes=\\d+ released=1 quarantined=0.*"));
    }
}
