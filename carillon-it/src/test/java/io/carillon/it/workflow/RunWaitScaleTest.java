package io.carillon.it.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.run.RunWaitStore.Position;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.internal.store.run.RunWaitStore.Scan;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Enqueue.OnFailure;
import io.carillon.run.RunId;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The cost of 100,000 waits: of a part of the scan, and of the answer to one of them. */
@Tag("slow")
class RunWaitScaleTest extends StoreContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final int WAITS = 100_000;

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void the_cost_of_an_answer_does_not_depend_on_the_number_of_waits() {
        fill();
        UUID node = node();
        List<Long> answers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            RunSpec other = RunSpec.mail();
            RunId first = enqueue(other);
            RunId second = enqueue(RunSpec.mail().afterRuns(OnFailure.CANCEL, first));
            Attempt attempt = claimOne(node);
            apply(node, attempt, complete());
            long start = System.nanoTime();
            storage().runWaits().resolveAwaited(List.of(new RunKey(PROJECT, first)));
            answers.add(System.nanoTime() - start);
            Attempt started = claimOne(node);
            assertThat(started.run()).isEqualTo(second);
            apply(node, started, complete());
        }
        answers.sort(null);
        long start = System.nanoTime();
        int parts = 0;
        Position after = null;
        do {
            Scan part = storage().runWaits().scan(after, 1_000);
            assertThat(part.waiting()).isEmpty();
            after = part.last();
            parts++;
        } while (after != null);
        long scanMillis = (System.nanoTime() - start) / 1_000_000;
        long pages = pages("SELECT * FROM carillon.scan_run_waits('', '00000000-0000-0000-0000-000000000000',"
                + " '00000000-0000-0000-0000-000000000000', 1000)");
        System.out.printf(
                "%,d waits: scan of all in %d parts %d ms, %d pages per part; answer p50 %d us, p99 %d us%n",
                WAITS, parts, scanMillis, pages, answers.get(100) / 1_000, answers.get(197) / 1_000);
        assertThat(pages).isLessThan(10_000);
    }

    /** Each of these runs waits for another run that is due in a year. */
    private void fill() {
        FIXTURE.database().execute("""
                INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target,
                                          target_name, codec, payload, parked)
                SELECT 'default', md5(kind || n)::uuid, 'other', 1, carillon.clock(),
                       CASE WHEN kind = 'waiting' THEN 'infinity' ELSE carillon.clock() + interval '1 y' END,
                       '2026-01-01', 'direct', 'handler', 'mail.send', 'json', '1',
                       CASE WHEN kind = 'waiting' THEN 'run-wait' END
                  FROM generate_series(1, %d) n, unnest(ARRAY['waiting', 'awaited']) kind;
                INSERT INTO carillon.run_wait
                SELECT 'default', md5('waiting' || n)::uuid, md5('awaited' || n)::uuid, 'cancel'
                  FROM generate_series(1, %d) n;
                ANALYZE carillon.run; ANALYZE carillon.run_wait
                """.formatted(WAITS, WAITS));
    }

    private long pages(String sql) {
        String plan = String.join(
                " ", FIXTURE.query("EXPLAIN (ANALYZE, BUFFERS) " + sql).texts());
        java.util.regex.Matcher found =
                java.util.regex.Pattern.compile("shared hit=(\\d+)").matcher(plan);
        assertThat(found.find()).as(plan).isTrue();
        return Long.parseLong(found.group(1));
    }
}
