package io.carillon.server.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.store.StreamEventRepository;
import io.carillon.server.store.StreamEventRepository.StreamEvent;
import io.carillon.server.store.StreamEventRepository.StreamPosition;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** All listeners of one project share a query. Each receives all events, or the information that events were lost. */
class ProjectEventStreamTest {
    private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");

    private final FakeEventSource source = new FakeEventSource();
    private final ProjectEventStream stream = new ProjectEventStream(NOON);

    /** Events in the order of the database. */
    private static final class FakeEventSource implements ProjectEventStream.EventSource {
        private final List<StreamEvent> rows = new ArrayList<>();
        private final List<StreamPosition> queriedPositions = new ArrayList<>();
        private Instant now = NOON.plusSeconds(10);

        void add(int number, Instant at) {
            rows.add(new StreamEvent(new UUID(1, number), "run.ended", at, "succeeded", "mail", "send-" + number));
        }

        @Override
        public Instant now() {
            return now;
        }

        @Override
        public List<StreamEvent> eventsAfter(StreamPosition streamPosition) {
            queriedPositions.add(streamPosition);
            return rows.stream()
                    .filter(row -> row.at().isAfter(streamPosition.at())
                            || (row.at().equals(streamPosition.at()) && row.id().compareTo(streamPosition.id()) > 0))
                    .sorted(Comparator.comparing(StreamEvent::at).thenComparing(StreamEvent::id))
                    .limit(StreamEventRepository.PAGE_SIZE)
                    .toList();
        }
    }

    private List<String> eventNames(long after) {
        return stream.eventsAfter(after, source).events().stream()
                .map(numberedEvent -> numberedEvent.event().name())
                .toList();
    }

    private ProjectEventStream.EventBatch query(long after) {
        stream.allowQueryNow();
        return stream.eventsAfter(after, source);
    }

    @Test
    void concurrent_listeners_share_one_query_and_get_each_event_once() {
        source.add(1, NOON.plusSeconds(1));
        source.add(2, NOON.plusSeconds(2));
        for (int listener = 0; listener < 40; listener++)
            assertThat(eventNames(0)).containsExactly("send-1", "send-2");
        assertThat(source.queriedPositions).containsExactly(StreamPosition.at(NOON));
        assertThat(eventNames(1)).containsExactly("send-2");
        assertThat(eventNames(stream.lastNumber())).isEmpty();
    }

    @Test
    void late_commits_are_delivered_and_nothing_twice() {
        source.add(1, NOON.plusSeconds(9));
        assertThat(query(0).events()).hasSize(1);
        source.add(2, NOON.plusSeconds(8));

        ProjectEventStream.EventBatch second = query(1);

        assertThat(second.events())
                .extracting(numberedEvent -> numberedEvent.event().name())
                .containsExactly("send-2");
        assertThat(second.lost()).isFalse();
    }

    @Test
    void a_burst_is_delivered_completely_and_so_is_what_follows() {
        for (int i = 0; i < 12_000; i++) source.add(i, NOON.plusMillis(i / 4));

        ProjectEventStream.EventBatch burst = query(0);

        assertThat(burst.events()).hasSize(12_000);
        assertThat(burst.lost()).isFalse();
        source.now = NOON.plusSeconds(20);
        source.add(12_000, NOON.plusSeconds(19));
        assertThat(query(burst.lastNumber()).events()).hasSize(1);
    }

    @Test
    void many_events_of_one_instant_are_delivered_page_by_page() {
        for (int i = 0; i < 11_000; i++) source.add(i, NOON.plusSeconds(1));

        assertThat(query(0).events()).hasSize(11_000);
    }

    @Test
    void a_stream_that_cannot_keep_up_reports_lost_events_and_continues_at_the_present() {
        for (int i = 0; i < 30_000; i++) source.add(i, NOON.plusSeconds(1));
        source.now = NOON.plusSeconds(100);

        ProjectEventStream.EventBatch first = query(0);
        source.add(30_000, NOON.plusSeconds(99));
        ProjectEventStream.EventBatch second = query(first.lastNumber());

        assertThat(first.lost()).isTrue();
        assertThat(second.events())
                .extracting(numberedEvent -> numberedEvent.event().name())
                .containsExactly("send-30000");
        assertThat(second.lost()).isFalse();
    }

    @Test
    void a_slow_listener_learns_that_it_lost_events() {
        source.add(1, NOON.plusSeconds(1));
        long heard = query(0).lastNumber();
        for (int i = 2; i < 80_000; i++) source.add(i, NOON.plusSeconds(2).plusMillis(i / 8));
        for (int i = 0; i < 8; i++) {
            source.now = source.now.plusSeconds(1);
            query(Long.MAX_VALUE);
        }

        ProjectEventStream.EventBatch late = query(heard);

        assertThat(late.lost()).isTrue();
        assertThat(query(late.lastNumber()).lost()).isFalse();
    }
}
