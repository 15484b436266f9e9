package io.carillon.webhook.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.webhook.send.LookupPlaces.Name;
import io.carillon.webhook.send.LookupPlaces.Place;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LookupPlacesTest {
    private long now = 1_000;
    private final LookupPlaces places = new LookupPlaces(() -> now);

    @Test
    void a_project_may_hold_half_of_the_places_of_quick_lookups() {
        assertThat(takeAll("a", "n")).hasSize(32);
        assertThat(takeAll("b", "n")).hasSize(16);
    }

    @Test
    void a_project_without_slow_lookups_gets_a_place_although_all_are_taken() {
        for (int i = 0; i < 7; i++) takeAll("hostile" + i, "n");
        assertThat(takeAll("last", "n")).hasSize(1);
    }

    @Test
    void lookups_that_become_slow_free_the_places_of_quick_ones() {
        List<Place> hostile = new ArrayList<>();
        for (int i = 0; i < 7; i++) hostile.addAll(takeAll("hostile" + i, "n"));
        now += LookupPlaces.SLOW_AFTER.toNanos() + 1;
        hostile.forEach(Place::checkAge);

        assertThat(takeAll("good", "n")).hasSize(LookupPlaces.MAX_WHILE_SLOW_IS_FULL);
        for (int i = 0; i < 3; i++) assertThat(takeAll("hostile" + i, "m")).isEmpty();
    }

    @Test
    void seven_projects_that_become_slow_one_after_the_other_leave_places() {
        int taken = 0;
        for (int i = 0; i < 7; i++) {
            List<Place> all = takeAll("hostile" + i, "n");
            all.forEach(Place::setSlow);
            taken += all.size();
        }

        assertThat(taken).isEqualTo(32 + 32 + 5 * LookupPlaces.MAX_WHILE_SLOW_IS_FULL);
        assertThat(takeAll("good", "n")).hasSize(LookupPlaces.MAX_WHILE_SLOW_IS_FULL);
    }

    @Test
    void a_project_with_slow_lookups_resolves_new_names_among_the_slow_ones_and_its_quick_names_among_the_quick_ones() {
        place("good", "quick").release();
        Place slow = place("good", "slow");
        slow.setSlow();
        for (int i = 0; i < 7; i++) takeAll("hostile" + i, "n").forEach(Place::setSlow);

        assertThat(places.tryAcquire(new Name("good", "new"))).isEmpty();
        assertThat(places.tryAcquire(new Name("good", "quick"))).isPresent();
    }

    @Test
    void a_project_with_many_slow_lookups_has_no_quick_names() {
        for (int i = 0; i < 64; i++) place("hostile", "n" + i).release();
        takeAll("hostile", "m").forEach(Place::setSlow);

        assertThat(takeAll("hostile", "n")).isEmpty();
    }

    @Test
    void a_project_counts_as_slow_for_five_minutes_after_its_last_slow_lookup() {
        Place slow = place("a", "slow");
        now += Duration.ofSeconds(2).toNanos();
        slow.release();
        takeAll("b", "n").forEach(Place::setSlow);
        takeAll("c", "n").forEach(Place::setSlow);
        while (places.tryAcquire(new Name("b", "m")).isPresent()) {}
        while (places.tryAcquire(new Name("c", "m")).isPresent()) {}
        int among = takeAll("a", "m").size();

        now += LookupPlaces.SLOW_FOR.toNanos() + 1;

        assertThat(among).isLessThan(10);
        assertThat(takeAll("a", "o")).hasSize(LookupPlaces.MAX_WHILE_SLOW_IS_FULL);
    }

    @Test
    void all_lookups_together_are_limited() {
        int taken = 0;
        for (int i = 0; i < 1_000; i++) {
            List<Place> all = takeAll("p" + i, "n");
            all.forEach(Place::setSlow);
            taken += all.size();
        }

        assertThat(taken).isEqualTo(LookupPlaces.MAX_LOOKUPS);
    }

    @Test
    void released_places_are_free_again() {
        for (int i = 0; i < 10; i++) {
            List<Place> all = takeAll("a", "n");
            assertThat(all).hasSize(32);
            all.forEach(Place::release);
        }
    }

    private Place place(String project, String host) {
        return places.tryAcquire(new Name(project, host)).orElseThrow();
    }

    private List<Place> takeAll(String project, String host) {
        List<Place> taken = new ArrayList<>();
        while (true) {
            Optional<Place> next = places.tryAcquire(new Name(project, host + taken.size()));
            if (next.isEmpty()) return taken;
            taken.add(next.get());
        }
    }
}
