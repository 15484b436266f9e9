package io.carillon.server.api;

import io.carillon.server.store.FeedRepository.Happening;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;

/** The news of one project, for all who listen to it: whoever comes first after a second asks the database, and the others are told the same. */
final class Feed {
    private static final long EVERY_NANOS = Duration.ofMillis(900).toNanos();
    /** Commits become visible a moment after the time they carry. */
    private static final Duration OVERLAP = Duration.ofSeconds(5);
    /** Who is slower than this misses something. */
    private static final int REMEMBERED = 2_000;

    /** Something that happened, and which it is in order. */
    record News(long number, Happening happening) {}

    private final Map<UUID, Instant> told = new HashMap<>();
    private final Deque<News> recent = new ArrayDeque<>();
    private Instant since;
    private long asked;
    private long last;

    /** From now on. */
    Feed(Instant now) {
        since = now;
        asked = System.nanoTime() - EVERY_NANOS;
    }

    /** What came after this number, asked for at most about once a second. */
    synchronized List<News> after(long number, Function<Instant, List<Happening>> question) {
        if (System.nanoTime() - asked >= EVERY_NANOS) ask(question);
        List<News> news = new ArrayList<>();
        for (News one : recent) if (one.number() > number) news.add(one);
        return news;
    }

    private void ask(Function<Instant, List<Happening>> question) {
        List<Happening> found = question.apply(since);
        asked = System.nanoTime();
        for (Happening one : found) if (told.put(one.id(), one.at()) == null) recent.addLast(new News(++last, one));
        while (recent.size() > REMEMBERED) recent.removeFirst();
        if (found.isEmpty()) return;
        Instant seen = found.get(found.size() - 1).at().minus(OVERLAP);
        if (seen.isAfter(since)) since = seen;
        told.values().removeIf(at -> at.isBefore(since));
    }

    /** The number of the newest. */
    synchronized long last() {
        return last;
    }
}
