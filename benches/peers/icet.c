/* IceT's compositing of the pictures of benches/volume/blending.rs, as an MPI program: 1024 x 1024 pixels a rank, rank 0 in
 * front, the picture wanted on rank 0; dense and a fifth covered, f32 and 8 bit, by each strategy.
 *
 *     icet [--samples N] [--only PART-OF-CASE]
 *
 * Prints a line for each case and leaves the numbers as JSON in the file that ZIPPY_BENCH_OUT names. A sample's time is that
 * of the slowest rank. Every picture is compared with one blended pixel by pixel before anything is timed. */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <IceT.h>
#include <IceTMPI.h>

enum { SIDE = 1024 };
static const double SAMPLE_SECS = 10e-3;

struct disk {
    double x, y, radius;
};

static struct disk disk_of(int rank) {
    double turn = rank * 2.4, centre = SIDE / 2.0;
    struct disk disk = {centre + 180.0 * cos(turn), centre + 180.0 * sin(turn), SIDE * sqrt(0.2 / acos(-1.0))};
    return disk;
}

/* Components of 0 to 1, premultiplied, of a rank's picture. */
static void pixel_of(int rank, int sparse, int x, int y, float out[4]) {
    struct disk disk = disk_of(rank);
    memset(out, 0, 4 * sizeof *out);
    if (sparse && (x - disk.x) * (x - disk.x) + (y - disk.y) * (y - disk.y) >= disk.radius * disk.radius) return;
    float alpha = 0.05f + 0.4f * (float)((x * 7 + y * 13 + rank * 101) % 97) / 97.0f;
    out[0] = alpha * x / SIDE;
    out[1] = alpha * y / SIDE;
    out[2] = alpha * 0.5f;
    out[3] = alpha;
}

static void fail(const char *what) {
    fprintf(stderr, "icet: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(IceTImage image, int bytes, int sparse, int size) {
    const IceTFloat *floats = bytes ? NULL : icetImageGetColorcf(image);
    const IceTUByte *ubytes = bytes ? icetImageGetColorcub(image) : NULL;
    /* Its blends of bytes cut what they do not round. */
    double tolerance = bytes ? (size + 1) / 255.0 : 1e-5;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            double wanted[4] = {0, 0, 0, 0};
            for (int rank = 0; rank < size; rank++) {
                float behind[4];
                pixel_of(rank, sparse, x, y, behind);
                double through = 1.0 - wanted[3];
                for (int c = 0; c < 4; c++) wanted[c] += through * behind[c];
            }
            for (int c = 0; c < 4; c++) {
                size_t at = 4 * ((size_t)y * SIDE + x) + c;
                double found = bytes ? ubytes[at] / 255.0 : floats[at];
                if (!(fabs(found - wanted[c]) <= tolerance)) fail("its picture is another one");
            }
        }
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double slowest(double secs) {
    double most;
    MPI_Allreduce(&secs, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, samples = 9;
    const char *only = "";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--samples") == 0) samples = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    }
    if (samples < 1) fail("--samples must be at least 1");

    IceTCommunicator communicator = icetCreateMPICommunicator(MPI_COMM_WORLD);
    icetCreateContext(communicator);
    icetDiagnostics(ICET_DIAG_ERRORS);
    icetResetTiles();
    icetAddTile(0, 0, SIDE, SIDE, 0);
    icetCompositeMode(ICET_COMPOSITE_MODE_BLEND);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
    icetDisable(ICET_INTERLACE_IMAGES);
    icetEnable(ICET_ORDERED_COMPOSITE);
    IceTInt *order = malloc(size * sizeof *order);
    for (int i = 0; i < size; i++) order[i] = i;
    icetCompositeOrder(order);
    icetBoundingBoxd(-1, 1, -1, 1, -1, 1);
    static const IceTDouble identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    static const IceTFloat background[4] = {0, 0, 0, 0};

    const char *path = getenv("ZIPPY_BENCH_OUT");
    FILE *out = rank == 0 && path ? fopen(path, "w") : NULL;
    if (rank == 0 && path && !out) fail("the file of ZIPPY_BENCH_OUT cannot be written");
    if (out) fprintf(out, "{\"cases\":[");
    const char *separator = "";

    size_t pixels = (size_t)SIDE * SIDE;
    float *floats = malloc(pixels * 4 * sizeof *floats);
    unsigned char *ubytes = malloc(pixels * 4);
    double *secs = malloc(samples * sizeof *secs);
    for (int sparse = 0; sparse < 2; sparse++) {
        for (size_t i = 0; i < pixels; i++) {
            pixel_of(rank, sparse, i % SIDE, i / SIDE, floats + 4 * i);
            for (int c = 0; c < 4; c++) ubytes[4 * i + c] = (unsigned char)lrintf(floats[4 * i + c] * 255.0f);
        }
        struct disk disk = disk_of(rank);
        int x = sparse ? (int)floor(disk.x - disk.radius) : 0, y = sparse ? (int)floor(disk.y - disk.radius) : 0;
        IceTInt viewport[4] = {x, y, SIDE, SIDE};
        if (sparse) {
            viewport[2] = (int)ceil(disk.x + disk.radius) + 1 - x;
            viewport[3] = (int)ceil(disk.y + disk.radius) + 1 - y;
        }
        for (int bytes = 0; bytes < 2; bytes++) {
            icetSetColorFormat(bytes ? ICET_IMAGE_COLOR_RGBA_UBYTE : ICET_IMAGE_COLOR_RGBA_FLOAT);
            static const char *names[] = {"direct send", "binary swap", "radix-k"};
            static const IceTEnum single[] = {0, ICET_SINGLE_IMAGE_STRATEGY_BSWAP, ICET_SINGLE_IMAGE_STRATEGY_RADIXK};
            for (int strategy = 0; strategy < 3; strategy++) {
                icetStrategy(strategy == 0 ? ICET_STRATEGY_DIRECT : ICET_STRATEGY_SEQUENTIAL);
                if (strategy > 0) icetSingleImageStrategy(single[strategy]);
                char name[100];
                snprintf(name, sizeof name, "compositing, %s, %s, %s", names[strategy], bytes ? "8 bit" : "f32",
                         sparse ? "20 % covered" : "dense");
                if (!strstr(name, only)) continue;
                const void *own = bytes ? (const void *)ubytes : floats;
                int repeats = 1;
                for (int sample = -3; sample < samples; sample++) {
                    MPI_Barrier(MPI_COMM_WORLD);
                    double start = MPI_Wtime();
                    IceTImage image;
                    for (int i = 0; i < repeats; i++)
                        image = icetCompositeImage(own, NULL, viewport, identity, identity, background);
                    double took = slowest((MPI_Wtime() - start) / repeats);
                    if (icetGetError() != ICET_NO_ERROR) fail("IceT found a mistake");
                    if (sample == -3 && rank == 0) check(image, bytes, sparse, size);
                    if (sample == -1) repeats = took < SAMPLE_SECS ? (int)(SAMPLE_SECS / took) : 1;
                    if (sample >= 0) secs[sample] = took;
                }
                if (rank > 0) continue;
                qsort(secs, samples, sizeof *secs, ascending);
                double low = secs[(int)round(0.25 * (samples - 1))], high = secs[(int)round(0.75 * (samples - 1))];
                double median = secs[(int)round(0.5 * (samples - 1))];
                printf("%s\n    IceT %28s %11.1f us [%.1f, %.1f]\n", name, "", median * 1e6, low * 1e6, high * 1e6);
                if (!out) continue;
                fprintf(out, "%s{\"case\":\"%s\",\"samples\":%d,\"figures\":[{\"who\":\"IceT\",", separator, name, samples);
                fprintf(out, "\"median_secs\":%.9f,\"quartiles_secs\":[%.9f,%.9f]}]}", median, low, high);
                separator = ",";
            }
        }
    }
    if (out) fprintf(out, "]}\n");
    if (out && fclose(out) != 0) fail("the file of ZIPPY_BENCH_OUT cannot be written");
    icetDestroyContext(icetGetContext());
    icetDestroyMPICommunicator(communicator);
    MPI_Finalize();
    return 0;
}
