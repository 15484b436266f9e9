package io.carillon.it.admin;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.BulkActions;
import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Bulk actions: cancel, reschedule, redrive or delete all runs that match a filter. */
@CarillonTest
class BulkTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);
    private static final HandlerType<Item> OTHER = HandlerType.of("other", Item.class);
    private static final RunFilter WAITING =
            RunFilter.all().queue("item").handler("item").state(RunState.WAITING);
    private static final RunFilter DEAD = WAITING.state(RunState.DEAD);
    private static final Enqueue LATER = Enqueue.after(Duration.ofHours(1));

    private final ApiFixture fixture;

    BulkTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private static List<Item> items(int count) {
        return IntStream.range(0, count).mapToObj(Item::new).toList();
    }

    private Carillon client() {
        return fixture.client(builder -> builder.handle(ITEM, (item, run) -> {})
                .handle(OTHER, (item, run) -> {}, HandlerOptions.defaults().queue("b")));
    }

    private CarillonBuilder failing(CarillonBuilder builder) {
        return builder.handle(
                ITEM,
                (item, run) -> {
                    throw new IllegalStateException("no");
                },
                HandlerOptions.defaults().retry(Retry.none()));
    }

    @Test
    void a_count_changes_nothing_and_a_cancel_ends_all_that_match_in_chunks() {
        Carillon client = client();
        client.enqueueAll(ITEM, items(2_500), LATER);
        client.enqueueAll(OTHER, items(10), LATER);
        BulkActions bulkActions = client.runs().bulk(WAITING);
        var before = fixture.tableDigests();
        assertThat(bulkActions.count()).isEqualTo(2_500);
        assertThat(fixture.tableDigests()).isEqualTo(before);

        List<Long> seen = new ArrayList<>();
        BulkActions.Result result = bulkActions.continueWhile(seen::add).cancel();

        assertThat(result).isEqualTo(new BulkActions.Result(2_500, false));
        assertThat(seen).containsExactly(1_000L, 2_000L, 2_500L);
        assertThat(fixture.query("SELECT count(*) FROM carillon.run_history WHERE state = 'cancelled'")
                        .number())
                .isEqualTo(2_500);
        assertThat(fixture.query("SELECT count(*) FROM carillon.run").number()).isEqualTo(10);
    }

    @Test
    void stopping_a_bulk_action_keeps_the_finished_chunks() {
        Carillon client = client();
        client.enqueueAll(ITEM, items(2_500), LATER);

        BulkActions.Result result =
                client.runs().bulk(WAITING).continueWhile(done -> done < 2_000).cancel();

        assertThat(result).isEqualTo(new BulkActions.Result(2_000, true));
        assertThat(client.runs().bulk(WAITING).count()).isEqualTo(500);
    }

    @Test
    void a_cancel_asks_running_runs_to_stop() {
        CountDownLatch never = new CountDownLatch(1);
        Carillon node = fixture.node(builder -> builder.handle(ITEM, (item, run) -> never.await()));
        node.enqueueAll(ITEM, items(5));
        RunFilter running = WAITING.state(RunState.RUNNING);
        eventually().until(() -> node.runs().bulk(running).count() == 5);

        assertThat(node.runs().bulk(running).cancel().done()).isEqualTo(5);

        eventually()
                .until(() -> node.runs()
                                .list(RunFilter.all().state(RunState.CANCELLED))
                                .size()
                        == 5);
    }

    @Test
    void a_reschedule_moves_waiting_runs_and_skips_gated_runs() {
        Carillon client = client();
        client.enqueueAll(ITEM, items(1_200), LATER);
        client.enqueue(ITEM, new Item(1), LATER.fifoKey("line"));
        Instant due = Instant.parse("2030-01-01T00:00:00Z");

        assertThat(client.runs().bulk(WAITING).reschedule(due).done()).isEqualTo(1_200);

        assertThat(client.runs().list(WAITING.limit(10_000)))
                .extracting(run -> run.instants().dueAt())
                .filteredOn(due::equals)
                .hasSize(1_200);
        assertThat(client.runs().bulk(WAITING).reschedule(due).done()).isZero();
    }

    @Test
    void dead_runs_are_redriven_or_deleted_and_a_run_with_a_taken_key_stays_dead() {
        Carillon node = fixture.node(this::failing);
        for (int i = 0; i < 3; i++) node.enqueue(ITEM, new Item(i));
        node.enqueue(ITEM, new Item(9), Enqueue.now().uniqueKey("k"));
        eventually().until(() -> node.runs().bulk(DEAD).count() == 4);
        node.queues().pause("item");
        node.enqueue(ITEM, new Item(10), Enqueue.now().uniqueKey("k"));

        assertThat(node.runs().bulk(DEAD).redrive()).isEqualTo(new BulkActions.Result(3, false));

        assertThat(node.runs().list(WAITING)).extracting(Run::origin).hasSize(4);
        assertThat(node.runs().bulk(DEAD).count()).isEqualTo(1);
        assertThat(node.runs().bulk(DEAD).delete()).isEqualTo(new BulkActions.Result(1, false));
        assertThat(fixture.query("SELECT count(*) FROM carillon.dead_run").number())
                .isZero();
        assertThat(node.runs().list(RunFilter.all().state(RunState.DEAD))).hasSize(4);
    }

    @Test
    void invalid_requests_are_rejected_before_any_run_changes() {
        Carillon client = client();

        assertThatThrownBy(() -> client.runs().bulk(DEAD).cancel())
                .isInstanceOfSatisfying(
                        CarillonException.class,
                        refused -> assertThat(refused.code()).isEqualTo(ErrorCode.INVALID_OPTION))
                .hasMessageContaining("Runs in state dead cannot be cancelled");
        assertThatThrownBy(() -> client.runs().bulk(RunFilter.all()).delete()).hasMessageContaining("in state any");
        assertThatThrownBy(() -> client.runs().bulk(RunFilter.all()).count()).isInstanceOf(CarillonException.class);
    }
}
