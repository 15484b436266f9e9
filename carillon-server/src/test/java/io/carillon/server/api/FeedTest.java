package io.carillon.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.store.FeedRepository;
import io.carillon.server.store.FeedRepository.Happening;
import io.carillon.server.store.FeedRepository.Place;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** All who listen to one project share a question, and hear everything or that they did not. */
class FeedTest {
    private static final Instant NOON = Instant.parse("2026-06-01T12:00:00Z");

    private final Table table = new Table();
    private final Feed feed = new Feed(NOON);

    /** What happened, in the order of a database. */
    private static final class Table implements Feed.Source {
        private final List<Happening> rows = new ArrayList<>();
        private final List<Place> asked = new ArrayList<>();
        private Instant now = NOON.plusSeconds(10);

        void add(int number, Instant at) {
            rows.add(new Happening(new UUID(1, number), "run.ended", at, "succeeded", "mail", "send-" + number));
        }

        @Override
        public Instant now() {
            return now;
        }

        @Override
        public List<Happening> behind(Place place) {
            asked.add(place);
            return rows.stream()
                    .filter(row -> row.at().isAfter(place.at())
                            || (row.at().equals(place.at()) && row.id().compareTo(place.id()) > 0))
                    .sorted(Comparator.comparing(Happening::at).thenComparing(Happening::id))
                    .limit(FeedRepository.PAGE)
                    .toList();
        }
    }

    private List<String> heard(long after) {
        return feed.after(after, table).news().stream()
                .map(news -> news.happening().name())
                .toList();
    }

    private Feed.Told round(long after) {
        feed.forgetWhenItAsked();
        return feed.after(after, table);
    }

    @Test
    void many_who_ask_at_once_cost_one_question_and_hear_the_same_once() {
        table.add(1, NOON.plusSeconds(1));
        table.add(2, NOON.plusSeconds(2));
        for (int listener = 0; listener < 40; listener++) assertThat(heard(0)).containsExactly("send-1", "send-2");
        assertThat(table.asked).containsExactly(Place.at(NOON));
        assertThat(heard(1)).containsExactly("send-2");
        assertThat(heard(feed.last())).isEmpty();
    }

    @Test
    void what_commits_late_is_told_and_nothing_twice() {
        table.add(1, NOON.plusSeconds(9));
        assertThat(round(0).news()).hasSize(1);
        table.add(2, NOON.plusSeconds(8));

        Feed.Told second = round(1);

        assertThat(second.news()).extracting(news -> news.happening().name()).containsExactly("send-2");
        assertThat(second.lost()).isFalse();
    }

    @Test
    void a_burst_is_told_wholly_and_what_follows_too() {
        for (int i = 0; i < 12_000; i++) table.add(i, NOON.plusMillis(i / 4));

        Feed.Told burst = round(0);

        assertThat(burst.news()).hasSize(12_000);
        assertThat(burst.lost()).isFalse();
        table.now = NOON.plusSeconds(20);
        table.add(12_000, NOON.plusSeconds(19));
        assertThat(round(burst.last()).news()).hasSize(1);
    }

    @Test
    void many_endings_of_one_instant_are_told_page_by_page() {
        for (int i = 0; i < 11_000; i++) table.add(i, NOON.plusSeconds(1));

        assertThat(round(0).news()).hasSize(11_000);
    }

    @Test
    void a_feed_that_cannot_keep_up_says_so_and_goes_on_with_the_present() {
        for (int i = 0; i < 30_000; i++) table.add(i, NOON.plusSeconds(1));
        table.now = NOON.plusSeconds(100);

        Feed.Told first = round(0);
        table.add(30_000, NOON.plusSeconds(99));
        Feed.Told second = round(first.last());

        assertThat(first.lost()).isTrue();
        assertThat(second.news()).extracting(news -> news.happening().name()).containsExactly("send-30000");
        assertThat(second.lost()).isFalse();
    }

    @Test
    void a_listener_that_is_slow_is_told_that_it_lost_events() {
        table.add(1, NOON.plusSeconds(1));
        long heard = round(0).last();
        for (int i = 2; i < 80_000; i++) table.add(i, NOON.plusSeconds(2).plusMillis(i / 8));
        for (int i = 0; i < 8; i++) {
            table.now = table.now.plusSeconds(1);
            round(Long.MAX_VALUE);
        }

        Feed.Told late = round(heard);

        assertThat(late.lost()).isTrue();
        assertThat(round(late.last()).lost()).isFalse();
    }
}
