package io.carillon.it.walls;

import static com.tngtech.archunit.lang.conditions.ArchConditions.accessTargetWhere;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** The walls between the rooms, as rules over compiled classes. ArchitectureTest holds the product to them. */
public final class Walls {

    private static final String WALL_CLOCK = "io.carillon.value.WallClock";

    public static final ArchRule EVERY_PACKAGE_IS_A_ROOM_OF_THE_PLAN = classes()
            .should(new ArchCondition<JavaClass>("lie in a room of Room.PLAN") {
                @Override
                public void check(JavaClass item, ConditionEvents events) {
                    if (roomOf(item).isEmpty()) {
                        events.add(SimpleConditionEvent.violated(
                                item, item.getName() + " lies in no room: enter its package in Room.PLAN"));
                    }
                }
            });

    public static final ArchRule ROOMS_KNOW_ONLY_WHAT_THE_PLAN_ALLOWS = classes()
            .should(new ArchCondition<JavaClass>("know only what Room.PLAN allows their room") {
                @Override
                public void check(JavaClass item, ConditionEvents events) {
                    roomOf(item)
                            .ifPresent(room -> item.getDirectDependenciesFromSelf().stream()
                                    .filter(dependency -> !allowed(room, dependency))
                                    .forEach(dependency -> events.add(SimpleConditionEvent.violated(
                                            dependency,
                                            room.name() + " may not know "
                                                    + dependency
                                                            .getTargetClass()
                                                            .getName() + ": "
                                                    + dependency.getDescription()))));
                }
            });

    public static final ArchRule NO_PACKAGE_CYCLES =
            slices().assignedFrom(byPackage()).should().beFreeOfCycles();

    public static final ArchRule NOTHING_INSIDE_KNOWS_THE_FRONT_DOOR = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "io.carillon",
                    "io.carillon.cli..",
                    "io.carillon.testkit..",
                    "io.carillon.bench..",
                    "io.carillon.server..",
                    "io.carillon.webhook..",
                    "io.carillon.micrometer..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.carillon")
            .because("the front door assembles the rooms; a room that looks back closes a cycle");

    public static final ArchRule ONE_HOME_FOR_THE_WALL_CLOCK = noClasses()
            .that(are(
                    "outside " + WALL_CLOCK, item -> !outermost(item).getName().equals(WALL_CLOCK)))
            .should(accessTargetWhere(that("reads the wall clock", Walls::readsTheWallClock)))
            .because("the database judges time; what is left of the wall clock has one home");

    public static final ArchRule THREADS_ARE_MADE_IN_ONE_PLACE = noClasses()
            .that(are(
                    "outside cli, the test kit and the class Threads of their room",
                    item -> !inCli(item)
                            && !inTestKit(item)
                            && !outermost(item).getSimpleName().equals("Threads")))
            .should(accessTargetWhere(that("makes a thread, a timer or a pool", Walls::makesThreads)
                    .and(DescribedPredicate.not(fromWhereAHookIsRegistered()))))
            .because("every thread of ours has a name, a handler for what escapes it, and an end at close()");

    public static final ArchRule ONLY_THE_COMMAND_ENDS_THE_JVM = noClasses()
            // A node process of the test kit ends with its parent: that is what it is for.
            .that(are(
                    "outside cli, the benchmark and the test kit",
                    item -> !inCli(item) && !inBench(item) && !inTestKit(item)))
            .should(accessTargetWhere(that("ends the JVM", Walls::endsTheJvm)))
            .because("a library must not take its application down");

    public static final ArchRule NO_JAVA_SERIALIZATION = noClasses()
            .should(accessTargetWhere(that(
                    "reads or writes serialized Java objects",
                    target -> ownerIs(target, "java.io.ObjectInputStream", "java.io.ObjectOutputStream"))))
            .because(
                    "payloads come from a database that others can write: reading objects from it would run their code");

    private Walls() {}

    private static Optional<Room> roomOf(JavaClass item) {
        return Room.nameFor(item.getPackageName()).flatMap(Room::named);
    }

    private static boolean allowed(Room room, Dependency dependency) {
        JavaClass target = dependency.getTargetClass();
        // The component type of an array is a dependency of its own.
        return target.isPrimitive() || target.isArray() || room.mayKnow(target.getPackageName(), target.getName());
    }

    private static boolean readsTheWallClock(AccessTarget target) {
        String owner = target.getOwner().getName();
        String name = target.getName();
        if (owner.startsWith("java.time.")) {
            return name.equals("now")
                    || (ownerIs(target, "java.time.InstantSource") && name.equals("system"))
                    || (ownerIs(target, "java.time.Clock")
                            && (name.startsWith("system")
                                    || Set.of("tickMillis", "tickSeconds", "tickMinutes")
                                            .contains(name)));
        }
        return (ownerIs(target, "java.lang.System") && name.equals("currentTimeMillis"))
                || (ownerIs(target, "java.util.Date") && constructsWithoutArguments(target))
                || (ownerIs(target, "java.util.Calendar") && name.equals("getInstance"))
                || (ownerIs(target, "java.util.GregorianCalendar") && constructsWithoutArguments(target));
    }

    private static boolean makesThreads(AccessTarget target) {
        String name = target.getName();
        return ownerIs(target, "java.util.concurrent.Executors")
                || (constructs(target)
                        && ownerIs(
                                target,
                                "java.lang.Thread",
                                "java.util.Timer",
                                "java.util.concurrent.ForkJoinPool",
                                "java.util.concurrent.ScheduledThreadPoolExecutor",
                                "java.util.concurrent.ThreadPoolExecutor"))
                || (ownerIs(target, "java.util.concurrent.ForkJoinPool") && name.equals("commonPool"))
                || (ownerIs(target, "java.lang.Thread")
                        && Set.of("ofPlatform", "ofVirtual", "startVirtualThread")
                                .contains(name));
    }

    /** The JDK wants a shutdown hook as a thread: one that is made where it is registered does not run beside us. */
    private static DescribedPredicate<JavaAccess<?>> fromWhereAHookIsRegistered() {
        return DescribedPredicate.describe(
                "where a shutdown hook is registered",
                access -> access.getOrigin().getMethodCallsFromSelf().stream()
                        .anyMatch(call -> ownerIs(call.getTarget(), "java.lang.Runtime")
                                && call.getName().equals("addShutdownHook")));
    }

    private static boolean endsTheJvm(AccessTarget target) {
        return ownerIs(target, "java.lang.System", "java.lang.Runtime")
                && Set.of("exit", "halt").contains(target.getName());
    }

    private static boolean ownerIs(AccessTarget target, String... names) {
        return Set.of(names).contains(target.getOwner().getName());
    }

    private static boolean constructs(AccessTarget target) {
        return target.getName().equals("<init>");
    }

    private static boolean constructsWithoutArguments(AccessTarget target) {
        return constructs(target)
                && ((AccessTarget.CodeUnitAccessTarget) target)
                        .getRawParameterTypes()
                        .isEmpty();
    }

    private static boolean inTestKit(JavaClass item) {
        return item.getPackageName().equals("io.carillon.testkit");
    }

    private static boolean inCli(JavaClass item) {
        return roomOf(item).filter(room -> room.name().equals("cli")).isPresent();
    }

    private static boolean inBench(JavaClass item) {
        return roomOf(item).filter(room -> room.name().equals("bench")).isPresent();
    }

    private static JavaClass outermost(JavaClass item) {
        return item.getEnclosingClass().map(Walls::outermost).orElse(item);
    }

    private static DescribedPredicate<JavaClass> are(String description, Predicate<JavaClass> test) {
        return DescribedPredicate.describe(description, test);
    }

    private static DescribedPredicate<JavaAccess<?>> that(String description, Predicate<AccessTarget> test) {
        return DescribedPredicate.describe(description, access -> test.test(access.getTarget()));
    }

    /** Every package for itself, the front door included: the usual pattern would leave it out. */
    private static SliceAssignment byPackage() {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass item) {
                return Room.nameFor(item.getPackageName()).isPresent()
                        ? SliceIdentifier.of(item.getPackageName())
                        : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "packages of the house";
            }
        };
    }
}
