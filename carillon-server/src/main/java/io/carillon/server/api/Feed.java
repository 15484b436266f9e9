package io.carillon.server.api;

import io.carillon.server.store.FeedRepository;
import io.carillon.server.store.FeedRepository.Happening;
import io.carillon.server.store.FeedRepository.Place;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The news of one project, for all who listen to it: the first listener after a second asks the database, and the others are told the same. After a burst the
 * feed reads on until it has caught up. A feed or a listener that falls too far behind goes on with the present, and is told that events were lost.
 */
final class Feed {
    private static final long EVERY_NANOS = Duration.ofMillis(900).toNanos();
    /** Commits become visible a moment after the time they carry, so this much is read again. */
    private static final Duration OVERLAP = Duration.ofSeconds(5);
    /** A feed that is further behind goes on with the present. */
    private static final Duration TOO_LATE = Duration.ofSeconds(30);
    /** How many pages one round reads at most. */
    private static final int PAGES = 5;
    /** A listener that is further behind loses events. */
    private static final int REMEMBERED = 2 * PAGES * FeedRepository.PAGE;

    /** Asks the database. */
    interface Source {
        /** Returns the database's time. */
        Instant now();

        /** Returns what happened behind this place, in order, up to {@link FeedRepository#PAGE}. */
        List<Happening> behind(Place place);
    }

    /** Something that happened, and its number in order. */
    record News(long number, Happening happening) {}

    /** What a listener is told: the news, whether others before them were lost, and the number from which it goes on. */
    record Told(List<News> news, boolean lost, long last) {}

    private final Map<UUID, Instant> known = new HashMap<>();
    private final Deque<News> recent = new ArrayDeque<>();
    private final Instant start;
    private Place place;
    private long asked;
    private long last;
    /** A listener that was told less than this has lost something. */
    private long lostUpTo;

    /** From now on. */
    Feed(Instant now) {
        start = now;
        place = Place.at(now);
        asked = System.nanoTime() - EVERY_NANOS;
    }

    /** Returns what came after this number; asks at most about once a second. */
    synchronized Told after(long number, Source source) {
        if (System.nanoTime() - asked >= EVERY_NANOS) ask(source);
        List<News> news = new ArrayList<>();
        for (News one : recent) if (one.number() > number) news.add(one);
        return new Told(news, number < lostUpTo, last);
    }

    private void ask(Source source) {
        Instant now = source.now();
        boolean more = true;
        for (int page = 0; more && page < PAGES; page++) {
            List<Happening> found = source.behind(place);
            found.forEach(this::add);
            more = found.size() == FeedRepository.PAGE;
            if (!found.isEmpty()) place = behind(found.get(found.size() - 1));
        }
        asked = System.nanoTime();
        goOn(now, more);
        known.values().removeIf(at -> at.isBefore(place.at()));
    }

    private static Place behind(Happening one) {
        return new Place(one.at(), one.id());
    }

    private void add(Happening one) {
        if (known.put(one.id(), one.at()) != null) return;
        recent.addLast(new News(++last, one));
        if (recent.size() > REMEMBERED) lostUpTo = recent.removeFirst().number();
    }

    /** Where the next round begins: some seconds before the present, because commits may come late, or where this one stopped if that is earlier. */
    private void goOn(Instant now, boolean more) {
        Instant late = now.minus(OVERLAP);
        boolean tooLate = more && place.at().isBefore(now.minus(TOO_LATE));
        if (tooLate) lostUpTo = ++last;
        if (tooLate || !more || place.at().isAfter(late)) place = Place.at(late.isBefore(start) ? start : late);
    }

    /** Lets the next question be asked at once. */
    synchronized void forgetWhenItAsked() {
        asked = System.nanoTime() - EVERY_NANOS;
    }

    /** The number of the newest. */
    synchronized long last() {
        return last;
    }
}
